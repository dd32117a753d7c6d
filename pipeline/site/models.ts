import type { ModelFacts } from '../contract/model-facts.ts'
import { TOP_MODELS } from '../contract/ranking.ts'
import { MODELS_FILE } from '../models/file.ts'
import type { SiteFacts } from './facts.ts'
import { html } from './html.ts'
import { type Page, renderPage } from './layout.ts'
import { modelPath } from './model-path.ts'
import { counted, formatTokens } from './numbers.ts'
import { table } from './table.ts'

/** `models.html`: every model that the current release names, with links to their pages. */
export function modelsPage({ manifest, models, release }: SiteFacts): Page {
  const { start_date, end_date } = manifest
  const isThere = manifest.files.some(({ path }) => path === MODELS_FILE)
  const main = html`<h1>Models</h1>
<p>${counted(models.length, 'model')} had a place among the ${TOP_MODELS} with the most tokens on at least one day from ${start_date} to ${end_date}. Tokens are
those of the days that name the model; what it had on others is part of the row <code>other</code>. Tokenizers differ, so compare
models of different providers with care.</p>
${isThere ? html`<p><a href="${release}${MODELS_FILE}">${MODELS_FILE}</a> has the same in exact numbers, with names, authors and aliases.</p>\n` : html``}${table('Models by tokens', { words: ['Model'], numbers: ['First seen', 'Last seen', 'Best rank', 'Days', 'Tokens'] }, models.map(row))}`
  const description = `Every model among the ${TOP_MODELS} with the most tokens of a day, ${start_date} to ${end_date}.`
  return renderPage({ path: 'models.html', title: `Models`, description, main }, manifest)
}

function row({ model_permaslug, first_date, last_date, best_rank, days, total_tokens }: ModelFacts) {
  const link = html`<a href="${modelPath(model_permaslug)}">${model_permaslug}</a>`
  return [link, first_date, last_date, best_rank, days, formatTokens(BigInt(total_tokens))]
}
