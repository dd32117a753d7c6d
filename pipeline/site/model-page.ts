import { counted, formatInteger, formatShare, formatTokens } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { type RankingRow, sumTokens, TOP_MODELS } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import { addDays, datesBetween, daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { type Appearance, appearances } from '../dataset/model-facts.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { wholeDay } from './chart/cells.ts'
import { chartFigure } from './chart.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { modelPath } from './model-path.ts'
import { factList, table } from './table.ts'

/** Charts of shorter spans say little, so they start before the model. */
const FEWEST_DATES = 28

interface Whole {
  appearances: Map<string, Appearance[]>
  months: Map<string, bigint>
  variants: Map<string, string[]>
  slugs: Set<string>
  dates: readonly UtcDate[]
}

export function modelPages(facts: SiteFacts): Page[] {
  const whole = lookAtAll(facts)
  return facts.models.map((model) => modelPage(model, whole, facts))
}

function lookAtAll({ manifest, rows, models }: SiteFacts): Whole {
  const slugs = models.map(({ model_permaslug }) => model_permaslug)
  const variants = Map.groupBy(
    slugs.filter((slug) => baseOf(slug) !== undefined).toSorted(),
    (slug) => baseOf(slug) ?? slug,
  )
  const { start_date, end_date } = manifest
  const count = Math.max(daysBetween(start_date, end_date) + 1, FEWEST_DATES)
  return {
    appearances: appearances(rows),
    months: tokensByMonth(rows),
    variants,
    slugs: new Set(slugs),
    dates: datesBetween(addDays(end_date, 1 - count), end_date),
  }
}

function tokensByMonth(rows: readonly RankingRow[]): Map<string, bigint> {
  return new Map(byMonth(rows).map(([month, own]) => [month, sumTokens(own)]))
}

/** Months and what they have, of a list in the order of its dates. */
function byMonth<Dated extends { date: UtcDate }>(list: readonly Dated[]): [month: string, own: Dated[]][] {
  const months: [string, Dated[]][] = []
  let [month, own]: [string, Dated[]] = ['', []]
  for (const each of list) {
    if (own.length === 0 || !each.date.startsWith(month)) {
      ;[month, own] = [each.date.slice(0, 7), []]
      months.push([month, own])
    }
    own.push(each)
  }
  return months
}

/** `acme/model:free` -> `acme/model`. */
function baseOf(slug: string): string | undefined {
  const colon = slug.lastIndexOf(':')
  return colon > 0 ? slug.slice(0, colon) : undefined
}

function modelPage(model: ModelFacts, whole: Whole, facts: SiteFacts): Page {
  const { model_permaslug: slug, name } = model
  const { manifest, release } = facts
  const path = modelPath(slug)
  const root = rootFrom(path)
  const list = whole.appearances.get(slug) ?? []
  const title = name === '' ? slug : name
  const main = html`<p class="trail"><a href="${root}models.html">Models</a></p>
<h1>${title}</h1>
${keyFacts(model, isRuled(manifest))}<section aria-labelledby="days">
<h2 id="days">Tokens per day</h2>
${chartOf(model, list, whole.dates)}<p class="quiet">A gap is a day on which the model was not among the ${TOP_MODELS} with the most tokens${isRuled(manifest) ? ', or its tokens would tell about single customers' : ''}: that is not zero.
<a href="${root}explore.html?models=${encodeURIComponent(slug)}">Look closer in the explorer</a></p>
</section>
<section aria-labelledby="months">
<h2 id="months">By month</h2>
${monthsTable(list, whole.months)}</section>
${variantsOf(slug, whole, root)}${aliasesOf(model)}<section aria-labelledby="data">
<h2 id="data">Data</h2>
<p>The numbers of each day are in the <a href="${root}${release}rankings-daily.csv">rows as CSV</a> and in the other forms that the
<a href="${root}index.html#download">overview</a> lists. ${modelsFile(facts, root)}</p>
</section>
`
  const description = `Tokens per UTC day of ${title}: best rank ${model.best_rank}, ${model.first_date} to ${model.last_date}.`
  return renderPage({ path, title, description, main }, manifest)
}

function modelsFile({ manifest, release }: SiteFacts, root: string): Html {
  if (!manifest.files.some(({ path }) => path === MODELS_FILE)) return html``
  return html`<a href="${root}${release}${MODELS_FILE}">${MODELS_FILE}</a> has the facts of all models.`
}

function keyFacts(model: ModelFacts, isAtLeast: boolean): Html {
  const { model_permaslug, name, author, first_date, last_date, best_rank, best_rank_date, days, total_tokens } = model
  return factList([
    ...(name === '' ? [] : [['Slug', html`<code>${model_permaslug}</code>`] as const]),
    ...(author === '' ? [] : [['Author', author] as const]),
    ['Seen', `${first_date} to ${last_date}`],
    ['Best rank', best_rank, `first on ${best_rank_date}`],
    [`Days in the top ${TOP_MODELS}`, formatInteger(days)],
    [
      isAtLeast ? 'Tokens, at least' : 'Tokens',
      formatTokens(BigInt(total_tokens)),
      formatInteger(BigInt(total_tokens)),
    ],
  ])
}

/** Ends at the last date of the dataset, so that a model's departure shows. */
function chartOf(
  { model_permaslug, first_date }: ModelFacts,
  list: readonly Appearance[],
  all: readonly UtcDate[],
): Html {
  const first = Math.max(Math.min(all.indexOf(first_date), all.length - FEWEST_DATES), 0)
  const dates = all.slice(first)
  const tokens = new Map(list.map((appearance) => [appearance.date, appearance.tokens]))
  const values = dates.map((date) => tokens.get(date) ?? null)
  return chartFigure({
    id: 'series',
    title: `Tokens per day of ${model_permaslug}`,
    description: `${counted(list.length, 'day')} with a value from ${dates[0] ?? ''} to ${dates.at(-1) ?? ''}. The table below has its months.`,
    content: {
      grain: 'day',
      form: 'lines',
      measure: 'tokens',
      periods: dates.map(wholeDay),
      totals: values,
      series: [{ name: model_permaslug, paint: 's0', values }],
    },
  })
}

function monthsTable(list: readonly Appearance[], whole: ReadonlyMap<string, bigint>): Html {
  const rows = byMonth(list)
    .toReversed()
    .map(([month, days]) => {
      const tokens = days.reduce((sum, day) => sum + day.tokens, 0n)
      const best = days.reduce((rank, day) => Math.min(rank, day.rank), TOP_MODELS)
      return [month, days.length, best, formatShare(tokens, whole.get(month) ?? 0n), formatInteger(tokens)]
    })
  const numbers = [`Days in the top ${TOP_MODELS}`, 'Best rank', 'Share of all tokens', 'Tokens']
  return table('Months in which it was named', { words: ['Month'], numbers }, rows)
}

function variantsOf(slug: string, { variants, slugs }: Whole, root: string): Html {
  const base = baseOf(slug)
  const family = base === undefined ? [] : [base, ...(variants.get(base) ?? [])]
  const related = [...family, ...(variants.get(slug) ?? [])].filter((each) => each !== slug && slugs.has(each))
  if (related.length === 0) return html``
  return html`<section aria-labelledby="variants">
<h2 id="variants">Variants</h2>
<p>Each is a model of its own, with its own rank.</p>
<ul>
${related.map((each) => html`<li><a href="${root}${modelPath(each)}">${each}</a></li>\n`)}</ul>
</section>
`
}

function aliasesOf({ aliases }: ModelFacts): Html {
  if (aliases.length === 0) return html``
  return html`<section aria-labelledby="aliases">
<h2 id="aliases">Aliases</h2>
<p>Other names in the logs that count for this model.</p>
<ul>
${aliases.map((alias) => html`<li><code>${alias}</code></li>\n`)}</ul>
</section>
`
}
