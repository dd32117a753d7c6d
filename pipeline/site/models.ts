import { counted, formatInteger } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { TOP_MODELS } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { type Author, type Authors, authorsOf } from './authors.ts'
import type { EntryTag } from './bundle.ts'
import { dateElement, tokensData } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { authorId, authorPath, modelPath } from './model-path.ts'
import { table } from './table.ts'

/** Search and sort work within a page. Most datasets fit on one, which has at most 25 KB on the way. */
const MODELS_ON_PAGE = 600

/** `models.html` with all models and authors of the current release, and further pages if there are many models. */
export function modelsPages(facts: SiteFacts, tag?: EntryTag): Page[] {
  const { models } = facts
  const count = Math.max(Math.ceil(models.length / MODELS_ON_PAGE), 1)
  const parts = Array.from({ length: count }, (_, part) => part)
  const authors = authorsOf(models)
  return parts.map((part) => modelsPage(facts, { part, parts, authors, tag }))
}

interface Part {
  part: number
  parts: readonly number[]
  authors: Authors
  /** Of the script that searches and sorts. */
  tag: EntryTag | undefined
}

function partPath(part: number): string {
  return part === 0 ? 'models.html' : `more-models/${part + 1}.html`
}

function modelsPage({ manifest, models, release }: SiteFacts, { part, parts, authors, tag }: Part): Page {
  const path = partPath(part)
  const root = rootFrom(path)
  const first = part * MODELS_ON_PAGE
  const own = models.slice(first, first + MODELS_ON_PAGE)
  const caption = parts.length === 1 ? 'Models by tokens' : `Models by tokens, ${first + 1} to ${first + own.length}`
  const hasAuthors = authors.all.length > 0
  const words = ['Model', ...(hasAuthors ? ['Author'] : [])]
  const numbers = ['First seen', 'Last seen', 'Best rank', 'Days', 'Tokens, at least']
  const rows = own.map((model) => modelRow(model, hasAuthors ? authors : undefined, root))
  const main = html`<h1>Models</h1>
${about({ manifest, models })}<p><a href="${root}${release}${MODELS_FILE}">${MODELS_FILE}</a> has exact numbers, names, authors and aliases.${part === 0 && hasAuthors ? html` The <a href="#authors">authors</a> are below.` : html``}</p>
<div id="models-list">
${search(parts.length > 1)}${table(caption, { words, numbers }, rows)}</div>
${partLinks(part, parts, root)}${part === 0 && hasAuthors ? authorsSection(authors.all, root) : html``}`
  const title = part === 0 ? 'Models' : `Models, page ${part + 1}`
  const { start_date, end_date } = manifest
  const description = `Every model among the ${TOP_MODELS} with the most tokens of a day, ${start_date} to ${end_date}, and their authors.`
  const head = tag?.('models.ts', root) ?? html``
  return renderPage({ path, title, description, head, main }, manifest)
}

function about({ manifest, models }: Pick<SiteFacts, 'manifest' | 'models'>): Html {
  const { start_date, end_date } = manifest
  const share = isRuled(manifest)
    ? 'that name it, so a model had at least these'
    : `on which it was in the top ${TOP_MODELS}`
  return html`<p>${counted(models.length, 'model')} ${models.length === 1 ? 'was' : 'were'} in the top ${TOP_MODELS} on at least one day from ${dateElement(start_date)} to ${dateElement(end_date)}. A
model's tokens are summed over the days ${share}. On other days its tokens are part of <code>other</code>. Providers count tokens
differently, so compare models of different authors with care.</p>
`
}

/** Shown by the script. */
function search(areMore: boolean): Html {
  return html`<p id="models-search" class="search" hidden><label for="models-query">Find a model or author</label> <input type="search" id="models-query" name="q" autocomplete="off" spellcheck="false"> <span id="models-found" class="quiet" role="status"></span>${areMore ? html` <small>This searches and sorts this page only.</small>` : html``}</p>
`
}

function modelRow(model: ModelFacts, authors: Authors | undefined, root: string) {
  const { model_permaslug, first_date, last_date, best_rank, days, total_tokens } = model
  const link = html`<a href="${root}${modelPath(model_permaslug)}">${model_permaslug}</a>`
  const author = authors === undefined ? [] : [authorLink(model_permaslug, authors, root)]
  return [link, ...author, first_date, last_date, best_rank, days, tokensData(BigInt(total_tokens))]
}

/** A link to a model's author in the list; empty if it has none. */
export function authorLink(slug: string, { keyOf, nameOf }: Authors, root: string): Html {
  const key = keyOf(slug)
  return key === undefined ? html`` : html`<a href="${root}${authorPath(key)}">${nameOf(key)}</a>`
}

function authorsSection(authors: readonly Author[], root: string): Html {
  const rows = authors.map(({ key, name, models, first_date, last_date, tokens }) => {
    const explorer = `${root}explore.html?of=author&models=${encodeURIComponent(name)}`
    const link = html`<a id="${authorId(key)}" href="${explorer}">${name}</a>`
    const found = html`<a href="${root}models.html?q=${encodeURIComponent(name)}">${models.length}</a>`
    return [link, found, first_date, last_date, tokensData(tokens)]
  })
  return html`<section aria-labelledby="authors">
<h2 id="authors">Authors</h2>
${table('Authors by tokens', { words: ['Author'], numbers: ['Models', 'First seen', 'Last seen', 'Tokens, at least'] }, rows, ' authors')}</section>
`
}

function partLinks(part: number, parts: readonly number[], root: string): Html {
  if (parts.length === 1) return html``
  const items = parts.map((each) => {
    const isHere = each === part ? html` aria-current="page"` : html``
    return html`<li><a href="${root}${partPath(each)}"${isHere}>${formatInteger(each * MODELS_ON_PAGE + 1)}…</a></li>\n`
  })
  return html`<nav aria-label="All models">
<ul class="parts">
${items}</ul>
</nav>
`
}
