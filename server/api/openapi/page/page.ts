import { type Html, html } from '../../../../pipeline/contract/html.ts'
import type { Publisher } from '../../../../pipeline/contract/manifest.ts'
import type { OwnPage } from '../../../published/site-frame.ts'
import type { OpenApiDocument } from '../document.ts'
import { sendAndResult } from './form.ts'
import { type Entry, operationSection, operationsOf } from './operation.ts'
import { shape } from './shapes.ts'
import { inline, NOTHING, prose } from './text.ts'

/** Whom to ask for a key: the publisher of what is served, if anything is. */
export type Contact = Pick<Publisher, 'name' | 'contact'> | undefined

/**
 * `/docs`: three steps to a first answer, then every operation and schema. Its links are relative.
 *
 * @param loaded the elements that load its script and its styles
 */
export function docsPage(document: OpenApiDocument, contact: Contact, loaded: readonly Html[]): OwnPage {
  const operations = operationsOf(document)
  const { title, version, description } = document.info
  const main = html`<div class="docs">
<h1>API <small>${version}</small></h1>
${steps(operations, contact)}<section aria-labelledby="operations">
<h2 id="operations">Operations</h2>
${prose(description)}
<p>All paths are below <code>${document.servers[0]?.url ?? ''}</code> of this server. For programs: <a href="openapi.json">openapi.json</a>.</p>
${contents(document, operations)}</section>
${document.tags.map(
  (tag) => html`<h2 id="${idOf(tag.name)}">${tag.name}</h2>
<p>${tag.description}</p>
${operations.filter(({ operation }) => operation.tags[0] === tag.name).map((entry) => operationSection(entry, document))}`,
)}<h2 id="schemas">Schemas</h2>
<p>Links in the operations open the schema that they lead to.</p>
${schemas(document)}</div>
`
  return { title, head: html`${loaded}`, main }
}

/** From nothing to a first answer. */
function steps(operations: Entry[], contact: Contact): Html {
  const first = operations.find(({ operation }) => operation.operationId === 'getRankingsDaily')
  const ask = contact === undefined ? 'the operator of this server' : `${contact.name} (${contact.contact})`
  return html`<ol class="steps">
<li><h2>Get a key</h2>
<p>Ask ${ask}. If the server is yours, run <code>make key</code> where it runs.</p></li>
<li><h2><label for="key">Paste it</label></h2>
<p class="key" data-for-script hidden><input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="sk-tb-v1-…"></p>
<p class="quiet">The key stays in this field: it is sent to this server alone, never stored, and gone when you leave or reload the page.</p>
<noscript><p>Trying operations here needs JavaScript. Without it, use the code below each operation.</p></noscript></li>
<li><h2>Try it</h2>
${first === undefined ? NOTHING : firstTry(first)}</li>
</ol>
`
}

function firstTry({ method, path, operation }: Entry): Html {
  return html`<form data-method="${method}" data-path="${path}" aria-label="First answer" novalidate>
<p>Read the first <label><span class="visually-hidden">number of rows</span><input name="limit" data-in="query" inputmode="numeric" size="4" value="10" data-for-script hidden></label> rows of the ranking of the last 31 days.</p>
${sendAndResult('the ranking')}</form>
<p><a href="#${operation.operationId}">All that the ranking can be asked</a></p>
`
}

function contents({ tags }: OpenApiDocument, operations: Entry[]): Html {
  return html`<nav aria-label="Operations and schemas">
<dl class="shape">
${tags.map(
  ({ name }) => html`<div><dt><a href="#${idOf(name)}">${name}</a></dt><dd><ul>
${operations
  .filter(({ operation }) => operation.tags[0] === name)
  .map(
    ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>\n`,
  )}</ul></dd></div>
`,
)}<div><dt><a href="#schemas">Schemas</a></dt><dd>The shapes of requests and answers</dd></div>
</dl>
</nav>
`
}

function schemas({ components }: OpenApiDocument): Html {
  return html`${Object.entries(components.schemas).map(
    ([name, schema]) => html`<details class="schema"><summary><h3>${name}</h3></summary>
<section id="schema-${name}">
${typeof schema.description === 'string' ? html`<p>${inline(schema.description)}</p>` : NOTHING}
${shape(schema)}
</section>
</details>
`,
  )}`
}

function idOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-')
}
