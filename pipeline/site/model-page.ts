import { hash } from 'node:crypto'
import { formatInteger, formatShare } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { CoverageDay } from '../contract/ledger.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { LATEST_PATH } from '../contract/published-paths.ts'
import { TOP_MODELS } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import { lastDateOf } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { type Appearance, type Appearances, appearancesOf } from '../dataset/model-facts.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { type Authors, authorsOf } from './authors.ts'
import { familyOf } from './chart/rows.ts'
import { dateElement, tokensData } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { lazyPage, type Masthead, type Page, renderPage, rootFrom } from './layout.ts'
import { type Standing, standings, WINDOW_DAYS } from './leaderboard.ts'
import { chartDates, modelCharts } from './model-charts.ts'
import { modelPath } from './model-path.ts'
import { authorLink } from './models.ts'
import { factList, table } from './table.ts'

interface Whole {
  appearances: Appearances
  months: Map<string, bigint>
  families: Map<string, string[]>
  authors: Authors
  standingOf: (slug: string, last: UtcDate) => Standing
  chartsOf: ReturnType<typeof modelCharts>
}

/** A page for each model that a day names. It stays as it is 28 days after the last of these days. */
export function modelPages(facts: SiteFacts): Page[] {
  const whole = lookAtAll(facts)
  const keyOf = pageKeys(facts.manifest)
  const shownBy = shownFacts(whole, facts)
  return facts.models.map((model) => {
    return lazyPage(modelPath(model.model_permaslug), keyOf(shownBy(model)), () => modelPage(model, whole, facts))
  })
}

/** All that the page of a model shows, with a hash in place of the rows. */
function shownFacts(
  { families, authors }: Whole,
  { coverage, manifest, periods }: SiteFacts,
): (model: ModelFacts) => unknown {
  const hashes = hashesUpTo(coverage.days)
  const weekly = appearancesOf(periods?.weekly ?? [])
  return (model) => {
    const { model_permaslug: slug, last_date } = model
    const dates = chartDates(model.first_date, last_date, manifest.end_date)
    // Its last month has shares of all tokens.
    const [last = dates.to] = [dates.to, lastDateOf('monthly', last_date)].toSorted().reverse()
    const rows = hashes.get(last < manifest.end_date ? last : manifest.end_date)
    // Weeks may change without their days.
    const weeks = weekly.get(slug)?.map(({ date, rank, tokens }) => [date, rank, `${tokens}`])
    const author = authors.keyOf(slug)
    const family = families.get(familyOf(slug))
    return {
      model,
      dates,
      rows,
      weeks,
      author: author && authors.nameOf(author),
      family,
      isRuled: isRuled(manifest),
    }
  }
}

function lookAtAll(facts: SiteFacts): Whole {
  const { rows, models } = facts
  const slugs = models.map(({ model_permaslug }) => model_permaslug).toSorted()
  return {
    appearances: appearancesOf(rows),
    months: tokensByMonth(facts),
    families: Map.groupBy(slugs, familyOf),
    authors: authorsOf(models),
    standingOf: standings(rows),
    chartsOf: modelCharts(facts),
  }
}

function modelPage(model: ModelFacts, whole: Whole, { manifest }: SiteFacts): Page {
  const { model_permaslug: slug, name, last_date } = model
  const path = modelPath(slug)
  const root = rootFrom(path)
  const list = whole.appearances.get(slug) ?? []
  const title = name === '' ? slug : name
  const author = authorLink(slug, whole.authors, root)
  const standing = whole.standingOf(slug, last_date)
  const charts = whole.chartsOf(model, list)
  const main = html`<p><a href="${root}models.html">Models</a>${author.text === '' ? html`` : html` / ${author}`}</p>
<h1>${title}</h1>
${keyFacts(model, { author, standing })}<section aria-labelledby="days">
<h2 id="days">Tokens per ${charts.grain}</h2>
${charts.tokens}<p class="quiet">A gap is ${charts.grain === 'day' ? 'a day on' : 'a week in'} which the model was not in the top ${TOP_MODELS}${isRuled(manifest) ? ', or its tokens would tell about single customers' : ''}. A gap is not zero.
<a href="${root}explore.html?models=${encodeURIComponent(slug)}">Open it in the explorer</a></p>
</section>
<section aria-labelledby="months">
<h2 id="months">Rank and share</h2>
${charts.ranks}${monthsTable(list, whole.months)}</section>
${neighborsOf(slug, standing, last_date, root)}${familySection(slug, whole, root)}${aliasesOf(model)}<section aria-labelledby="data">
<h2 id="data">Data</h2>
<p>The newest release has the tokens of each day as <a href="${root}${LATEST_PATH}/rankings-daily.csv">CSV</a> and in the formats that the
<a href="${root}index.html#download">overview</a> lists. The facts of all models are in <a href="${root}${LATEST_PATH}/${MODELS_FILE}">${MODELS_FILE}</a>.</p>
</section>
`
  const description = `Tokens per UTC day of ${title}: best rank ${model.best_rank}, ${model.first_date} to ${last_date}.`
  return renderPage({ path, title, description, main }, manifest)
}

interface Told {
  author: Html
  standing: Standing
}

function keyFacts(model: ModelFacts, { author, standing }: Told): Html {
  const { model_permaslug, name, first_date, last_date, best_rank, best_rank_date, days, total_tokens } = model
  const { own, total } = standing
  const window = `${WINDOW_DAYS} days to ${last_date}`
  return factList([
    ...(name === '' ? [] : [['Slug', html`<code>${model_permaslug}</code>`] as const]),
    ...(author.text === '' ? [] : [['Author', author] as const]),
    ['Seen', `${first_date} to ${last_date}`],
    ['Best rank', best_rank, `first on ${best_rank_date}`],
    ['Share of all tokens', formatShare(own?.tokens ?? 0n, total), `at least, ${window}`],
    [`Days in the top ${TOP_MODELS}`, formatInteger(days)],
    ['Tokens, at least', tokensData(BigInt(total_tokens)), formatInteger(BigInt(total_tokens))],
  ])
}

function monthsTable(list: readonly Appearance[], whole: ReadonlyMap<string, bigint>): Html {
  const rows = byMonth(list)
    .toReversed()
    .map(([month, days]) => {
      const tokens = days.reduce((sum, day) => sum + day.tokens, 0n)
      const ranks = days.map(({ rank }) => rank).sort((a, b) => a - b)
      const [best = '', middle = ''] = [ranks[0], ranks[Math.floor((ranks.length - 1) / 2)]]
      return [
        dateElement(month),
        days.length,
        best,
        middle,
        formatShare(tokens, whole.get(month) ?? 0n),
        tokensData(tokens),
      ]
    })
  const numbers = ['Days', 'Best rank', 'Median rank', 'Share', 'Tokens, at least']
  return table(
    `By month: days in the top ${TOP_MODELS}, ranks and share of all tokens`,
    { words: ['Month'], numbers },
    rows,
  )
}

function neighborsOf(slug: string, { near, total }: Standing, last: UtcDate, root: string): Html {
  if (near.length < 2) return html``
  const rows = near.map(({ name, rank, tokens }) => {
    const label = name === slug ? html`<b>${name}</b>` : html`<a href="${root}${modelPath(name)}">${name}</a>`
    return [label, rank ?? '', formatShare(tokens, total), tokensData(tokens)]
  })
  return html`<section aria-labelledby="neighbors">
<h2 id="neighbors">Ranked next to it</h2>
${table(`Models by tokens in the ${WINDOW_DAYS} days to ${last}`, { words: ['Model'], numbers: ['Rank', 'Share', 'Tokens, at least'] }, rows)}</section>
`
}

function familySection(slug: string, { families }: Whole, root: string): Html {
  const related = (families.get(familyOf(slug)) ?? []).filter((each) => each !== slug)
  if (related.length === 0) return html``
  return html`<section aria-labelledby="family">
<h2 id="family">Family</h2>
<p>Variants of the same model. Each is ranked by itself.</p>
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

/** All tokens of each month. */
function tokensByMonth({ coverage }: SiteFacts): Map<string, bigint> {
  const months = new Map<string, bigint>()
  for (const { date, total_tokens } of coverage.days) {
    const month = date.slice(0, 7)
    months.set(month, (months.get(month) ?? 0n) + BigInt(total_tokens))
  }
  return months
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

/** The key of a page: of all that it shows, and of what all pages have around it. */
function pageKeys(masthead: Masthead): (shown: unknown) => string {
  const frame = hash('sha256', renderPage({ path: '', title: '', description: '', main: html`` }, masthead).text)
  return (shown) => hash('sha256', `${frame} ${JSON.stringify(shown)}`)
}

/** By date, a hash of the rows of all dates up to it. */
function hashesUpTo(days: readonly CoverageDay[]): Map<UtcDate, string> {
  let before = ''
  return new Map(
    days.map(({ date, content_hash }) => {
      before = hash('sha256', `${before} ${date} ${content_hash}`)
      return [date, before]
    }),
  )
}
