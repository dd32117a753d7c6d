import { type Html, html } from '../../../pipeline/contract/html.ts'
import type { Publisher } from '../../../pipeline/contract/manifest.ts'
import type { OwnPage } from '../../published/site-frame.ts'
import type { JsonSchema } from './components.ts'
import type { OpenApiDocument, OperationObject, ParameterObject } from './document.ts'

/** Whom to ask for a key: the publisher of what is served, if anything is. */
export type Contact = Pick<Publisher, 'name' | 'contact'> | undefined

interface Entry {
  path: string
  method: string
  operation: OperationObject
}

const NOTHING = html``

/** `/docs`: every operation with its parameters, a request and an answer. Its links are relative. */
export function docsPage(document: OpenApiDocument, contact: Contact): OwnPage {
  const { info, tags, paths, servers } = document
  const base = servers[0]?.url ?? ''
  const ask = contact === undefined ? 'the operator of this server' : `${contact.name} (${contact.contact})`
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ path, method: method.toUpperCase(), operation })),
  )
  const main = html`<h1>API <small>${info.version}</small></h1>
${prose(info.description)}
<p>For a key, ask ${ask}. If the server is yours, run <code>make key</code> where it runs.</p>
<p>All paths are below <code>${base}</code> of this server. The examples read its address, such as <code>http://127.0.0.1:8080</code>, from
<code>TOKENBOARD_URL</code>, and your key from <code>TOKENBOARD_KEY</code>. <a href="openapi.json">openapi.json</a> has the schemas of all bodies, for programs.</p>
${tags.map(({ name, description }) => {
  const ofTag = entries.filter(({ operation }) => operation.tags[0] === name)
  return html`<h2>${name}</h2>
<p>${description}</p>
<ul>
${ofTag.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>\n`)}</ul>
${ofTag.map((entry) => operationSection(entry, base))}`
})}`
  return { title: info.title, main }
}

function operationSection({ path, method, operation }: Entry, base: string): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const body = requestBody?.content['application/json']
  const examples = Object.entries<{ example: unknown }>(responses[200].content)
  return html`<section id="${operationId}">
<h3>${summary}</h3>
<p><b>${method}</b> <code>${path}</code></p>
${prose(description)}
${parameters.length === 0 ? NOTHING : html`<dl class="access">\n${parameters.map(parameterItem)}</dl>\n`}${
  body === undefined ? NOTHING : html`<p>The body is a ${typeName(body.schema)}.</p>\n`
}${codeBlock(`Request: ${summary}`, curl({ path: base + path, method, operation }))}<details>
<summary>Answers</summary>
<p>${responses[200].description} Other statuses: ${Object.keys(responses).slice(1).join(', ')}.</p>
${examples.map(([mediaType, { example }]) => codeBlock(`Example of ${mediaType}: ${summary}`, shown(example)))}</details>
</section>
`
}

function parameterItem({ name, in: place, required, description = '', schema }: ParameterObject): Html {
  const about = [required ? 'required' : '', place].filter((word) => word !== '').join(', ')
  return html`<div><dt><code>${name}</code> <small>${about}: ${typeName(schema)}</small></dt><dd>${inline(description)}</dd></div>\n`
}

/** A value's type in a few words, with its bounds. */
function typeName(schema: JsonSchema): Html {
  const { $ref, enum: choices, type, items, minimum, maximum } = schema
  if ($ref !== undefined) return html`<code>${$ref.slice($ref.lastIndexOf('/') + 1)}</code>`
  if (choices !== undefined) return html`${choices.map(String).join(' or ')}`
  if (type === 'array') return html`list of ${typeName((items ?? {}) as JsonSchema)}`
  const bounds = [minimum === undefined ? '' : ` from ${minimum}`, maximum === undefined ? '' : ` to ${maximum}`]
  return html`${[type ?? 'anything'].flat().join(' or ')}${bounds.join('')}`
}

/**
 * The request of the examples. The environment has the key, so that no command has it in it, and the address: if that of a
 * request were written into the page, a cache could spread a forged one.
 */
function curl({ path, method, operation: { parameters, requestBody } }: Entry): string {
  const encoded = ({ example }: ParameterObject) => encodeURIComponent(String(example))
  const query = parameters.filter(({ in: place, example }) => place === 'query' && example !== undefined)
  const filled = parameters
    .filter(({ in: place }) => place === 'path')
    .reduce((text, parameter) => text.replace(`{${parameter.name}}`, encoded(parameter)), path)
  const search = query.length === 0 ? '' : `?${query.map((one) => `${one.name}=${encoded(one)}`).join('&')}`
  const lines = [`curl -sS "$TOKENBOARD_URL${filled}${search}"`, `-H "Authorization: Bearer $TOKENBOARD_KEY"`]
  const body = requestBody?.content['application/json'].example
  if (body !== undefined) {
    // For a shell within single quotes.
    const quoted = shown(body).replaceAll("'", String.raw`'\''`)
    lines.push(`-X ${method}`, `-H 'Content-Type: application/json'`, `-d '${quoted}'`)
  }
  return lines.join(' \\\n  ')
}

function shown(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, undefined, 2)
}

/** A block of code that scrolls on its own, also by keyboard. */
function codeBlock(label: string, code: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="${label}"><code>${code}</code></pre>\n`
}

/** Paragraphs of a description. */
function prose(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}`
}

const INLINE = /`([^`]+)`|\[([^\]]+)\]\((https:[^)]+)\)/g

/** Text with its code and links. */
function inline(text: string): Html {
  const pieces: Html[] = []
  let end = 0
  for (const { index, 0: whole, 1: code, 2: label = '', 3: target = '' } of text.matchAll(INLINE)) {
    const piece = code === undefined ? html`<a href="${target}">${label}</a>` : html`<code>${code}</code>`
    pieces.push(html`${text.slice(end, index)}${piece}`)
    end = index + whole.length
  }
  return html`${pieces}${text.slice(end)}`
}
