import { counted, formatInteger, formatTokens } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { TOP_MODELS } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { modelPath } from './model-path.ts'
import { table } from './table.ts'

/** A model takes about 200 bytes, and a page at most 100 KB. */
const MODELS_ON_PAGE = 400

/** `models.html` with all models of the current release, and further pages if there are many. */
export function modelsPages(facts: SiteFacts): Page[] {
  const { models } = facts
  const count = Math.max(Math.ceil(models.length / MODELS_ON_PAGE), 1)
  const parts = Array.from({ length: count }, (_, part) => part)
  return parts.map((part) => modelsPage(facts, part, parts))
}

function partPath(part: number): string {
  return part === 0 ? 'models.html' : `more-models/${part + 1}.html`
}

function modelsPage({ manifest, models, release }: SiteFacts, part: number, parts: readonly number[]): Page {
  const { start_date, end_date } = manifest
  const path = partPath(part)
  const root = rootFrom(path)
  const first = part * MODELS_ON_PAGE
  const own = models.slice(first, first + MODELS_ON_PAGE)
  const isThere = manifest.files.some(({ path }) => path === MODELS_FILE)
  const caption = parts.length === 1 ? 'Models by tokens' : `Models by tokens, ${first + 1} to ${first + own.length}`
  const rows = own.map((model) => row(model, root))
  const main = html`<h1>Models</h1>
<p>${counted(models.length, 'model')} had a place among the ${TOP_MODELS} with the most tokens on at least one day from ${start_date} to ${end_date}. Tokens are
those of the days that name the model; what it had on others is part of the row <code>other</code>${isRuled(manifest) ? ', so a model had at least these' : ''}. Tokenizers differ, so compare
models of different providers with care.</p>
${isThere ? html`<p><a href="${root}${release}${MODELS_FILE}">${MODELS_FILE}</a> has the same in exact numbers, with names, authors and aliases.</p>\n` : html``}${table(caption, { words: ['Model'], numbers: ['First seen', 'Last seen', 'Best rank', 'Days', 'Tokens'] }, rows)}${partLinks(part, parts, root)}`
  const title = part === 0 ? 'Models' : `Models, page ${part + 1}`
  const description = `Every model among the ${TOP_MODELS} with the most tokens of a day, ${start_date} to ${end_date}.`
  return renderPage({ path, title, description, main }, manifest)
}

function row({ model_permaslug, first_date, last_date, best_rank, days, total_tokens }: ModelFacts, root: string) {
  const link = html`<a href="${root}${modelPath(model_permaslug)}">${model_permaslug}</a>`
  return [link, first_date, last_date, best_rank, days, formatTokens(BigInt(total_tokens))]
}

function partLinks(part: number, parts: readonly number[], root: string): Html {
  if (parts.length === 1) return html``
  const items = parts.map((each) => {
    const isHere = each === part ? html` aria-current="page"` : html``
    return html`<li><a href="${root}${partPath(each)}"${isHere}>${formatInteger(each * MODELS_ON_PAGE + 1)}…</a></li>\n`
  })
  return html`<nav aria-label="All models">
<ul class="years">
${items}</ul>
</nav>
`
}
