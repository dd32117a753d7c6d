import { counted, formatInteger, formatShare } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import { TOP_MODELS } from '../contract/ranking.ts'
import { type Appearances, appearancesOf } from '../dataset/model-facts.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { drawShare, shareCharts } from './author-charts.ts'
import { type Author, authorsOf } from './authors.ts'
import type { Content } from './chart/scene.ts'
import { dateElement, tokensData } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { lazyPage, type Masthead, type Page, renderPage, rootFrom } from './layout.ts'
import { authorPath, modelPath } from './model-path.ts'
import { byMonth } from './months.ts'
import { pageKeys } from './page-key.ts'
import { factList, table } from './table.ts'
import { tokensByMonth } from './totals.ts'

/** A page for each author of models that a day names. It is made of its key: of what it shows, and of nothing else. */
export function authorPages(facts: SiteFacts): Page[] {
  const { manifest } = facts
  const keyOf = pageKeys(manifest)
  const shareOf = shareCharts(facts)
  const byModel = appearancesOf(facts.rows)
  const totals = tokensByMonth(facts)
  return authorsOf(facts.models).all.map((author) => {
    const months = monthsOf(author, byModel, totals)
    const shown: Shown = { author, months, share: shareOf(author), isRuled: isRuled(manifest) }
    return lazyPage(authorPath(author.key), keyOf(withoutBigInts(shown)), () => authorPage(shown, manifest))
  })
}

interface Shown {
  author: Author
  /** The newest first. */
  months: readonly Month[]
  share: Content | undefined
  isRuled: boolean
}

interface Month {
  month: string
  models: number
  bestRank: number
  tokens: bigint
  /** Of all models. */
  total: bigint
}

/** As JSON has it. */
function withoutBigInts(shown: Shown): string {
  return JSON.stringify(shown, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
}

/** What the models of an author have in each month, the newest first. */
function monthsOf({ models }: Author, byModel: Appearances, totals: ReadonlyMap<string, bigint>): Month[] {
  const months = new Map<string, Month>()
  for (const { model_permaslug } of models) {
    for (const [month, days] of byMonth(byModel.get(model_permaslug) ?? [])) {
      const unknown = { models: 0, bestRank: TOP_MODELS, tokens: 0n, total: totals.get(month) ?? 0n }
      const known = months.get(month) ?? unknown
      months.set(month, {
        ...{ month, total: known.total },
        models: known.models + 1,
        bestRank: days.reduce((best, { rank }) => Math.min(best, rank), known.bestRank),
        tokens: days.reduce((sum, { tokens }) => sum + tokens, known.tokens),
      })
    }
  }
  return [...months.values()].sort((a, b) => (a.month < b.month ? 1 : -1))
}

function authorPage({ author, months, share, isRuled }: Shown, masthead: Masthead): Page {
  const { key, name, models, first_date, last_date } = author
  const path = authorPath(key)
  const root = rootFrom(path)
  const outside = isRuled ? 'that a day does not name' : `outside the top ${TOP_MODELS} of a day`
  const main = html`<p class="trail"><a href="${root}models.html#authors">Authors</a></p>
<h1>${name}</h1>
<p>All tokens here are at least these, because models ${outside} are part of <code>other</code>.</p>
${keyFacts(author)}<section aria-labelledby="share">
<h2 id="share">Share of all tokens</h2>
${drawShare(share, author)}<p><a href="${root}explore.html?${explorerQuery(author)}">Open it in the explorer</a></p>
${monthsTable(months)}</section>
<section aria-labelledby="models">
<h2 id="models">Models</h2>
${modelsTable(author, root)}</section>
`
  const description = `${counted(models.length, 'model')} of ${name} by tokens, with their ranks, ${first_date} to ${last_date}.`
  return renderPage({ path, title: name, description, main }, masthead)
}

/** The explorer has authors under the names of their pages. */
function explorerQuery({ name }: Author): string {
  return `of=author&models=${encodeURIComponent(name)}`
}

function keyFacts({ models, tokens, first_date, last_date }: Author): Html {
  return factList([
    ['Models', formatInteger(models.length)],
    ['Seen', `${first_date} to ${last_date}`],
    ['Tokens, at least', tokensData(tokens), formatInteger(tokens)],
  ])
}

function modelsTable({ models, tokens: all }: Author, root: string): Html {
  const rows = models.map(({ model_permaslug, first_date, last_date, best_rank, total_tokens }) => {
    const link = html`<a href="${root}${modelPath(model_permaslug)}">${model_permaslug}</a>`
    const tokens = BigInt(total_tokens)
    return [link, first_date, last_date, best_rank, formatShare(tokens, all), tokensData(tokens)]
  })
  const numbers = ['First seen', 'Last seen', 'Best rank', 'Share of the author', 'Tokens, at least']
  return html`<div class="author-models">
${table('Models by tokens', { words: ['Model'], numbers }, rows)}</div>
`
}

function monthsTable(months: readonly Month[]): Html {
  const rows = months.map(({ month, models, bestRank, tokens, total }) => {
    return [dateElement(month), models, bestRank, formatShare(tokens, total), tokensData(tokens)]
  })
  const numbers = ['Models', 'Best rank', 'Share', 'Tokens, at least']
  return table('By month: models in the ranking and share of all tokens', { words: ['Month'], numbers }, rows)
}
