import { formatChange, formatShare } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { authorsOf, NO_AUTHOR } from './authors.ts'
import { familyOf } from './chart/rows.ts'
import { ALL_OTHERS } from './chart/series.ts'
import { commaSeparated, tokensElement } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { rootFrom } from './layout.ts'
import { entriesOf, firstRanks, type Leaderboard, type LeaderboardRow, leaderboard } from './leaderboard.ts'
import { earlierWords, hasChange, type Period } from './leaderboard-period.ts'
import { authorPath, modelPath } from './model-path.ts'
import { type Cell, table as drawTable } from './table.ts'

/** The rows that a page ranks. */
export interface Ranking {
  /** Where the page is. */
  path: string
  rows: readonly RankingRow[]
  /** Undefined if the rows are of all time. */
  period: Period | undefined
  caption: string
}

/** A way to sum models. */
interface Grouping {
  noun: string
  nameOf: (slug: string) => string | undefined
  /** The row of models that `nameOf` has no name for. */
  nameless?: string
  /** What a name is called, and the page that it has. */
  linkOf: (name: string) => { text: string; path: string | undefined }
  isAtLeast: boolean
}

export function modelsTable(ranking: Ranking, facts: SiteFacts, most = TOP_MODELS): Html {
  const linkOf = modelLinks(facts)
  const isAtLeast = ranking.period === undefined
  const { table, dropped } = tablesOf(
    ranking,
    facts,
    { noun: 'Model', nameOf: (slug) => slug, linkOf, isAtLeast },
    most,
  )
  return most < TOP_MODELS ? table : html`${table}${droppedNote(dropped, ranking, facts)}`
}

export function familiesTable(ranking: Ranking, facts: SiteFacts): Html {
  const members = Map.groupBy(facts.models, ({ model_permaslug }) => familyOf(model_permaslug))
  const linkOf = (family: string) => {
    const own = members.get(family) ?? []
    const model = own.find(({ model_permaslug }) => model_permaslug === family) ?? own[0]
    return { text: family, path: model && modelPath(model.model_permaslug) }
  }
  return tablesOf(ranking, facts, { noun: 'Family', nameOf: familyOf, linkOf, isAtLeast: true }).table
}

export function authorsTable(ranking: Ranking, facts: SiteFacts): Html {
  const { all, keyOf, nameOf } = authorsOf(facts.models)
  const pages = new Set(all.map(({ key }) => key))
  const linkOf = (key: string) => ({ text: nameOf(key), path: pages.has(key) ? authorPath(key) : undefined })
  const nameless = NO_AUTHOR
  return tablesOf(ranking, facts, { noun: 'Author', nameOf: keyOf, nameless, linkOf, isAtLeast: true }).table
}

function modelLinks({ models }: SiteFacts): Grouping['linkOf'] {
  const pages = new Set(models.map(({ model_permaslug }) => model_permaslug))
  return (slug) => ({ text: slug, path: pages.has(slug) ? modelPath(slug) : undefined })
}

function tablesOf(
  { path, rows, period, caption }: Ranking,
  facts: SiteFacts,
  { noun, nameOf, nameless, linkOf, isAtLeast }: Grouping,
  most = TOP_MODELS,
): { table: Html; dropped: string[] } {
  const entries = (each: readonly RankingRow[]) => entriesOf(each, nameOf, nameless)
  const whole = leaderboard(entries(rows), entries(period?.before?.rows ?? []))
  const board = firstRanks(whole, most, ALL_OTHERS)
  const firstDates = firstDatesOf(facts, nameOf)
  const { total } = whole
  const name = ({ name, rank }: LeaderboardRow) =>
    rank === null ? unranked(name, isRuled(facts.manifest)) : link(linkOf(name), path)
  const columns: Column[] = [
    { head: 'Rank', cell: ({ rank }) => rank ?? '' },
    { head: noun, cell: name, ofAll: html`<b>All models</b>` },
    ...when(period?.before !== undefined, { head: 'Moved', cell: movementOf }),
    {
      head: `Tokens${isAtLeast ? ', at least' : ''}`,
      cell: ({ tokens }) => tokensElement(tokens),
      ofAll: tokensElement(total),
    },
    { head: 'Share', cell: ({ tokens }) => formatShare(tokens, total), ofAll: formatShare(total, total) },
    ...when(period !== undefined && hasChange(period), { head: 'Change', cell: (row) => changeOf(row, period) }),
    { head: 'First seen', cell: ({ name, rank }) => (rank === null ? '' : (firstDates.get(name) ?? '')) },
    { head: 'Drawn', cell: (row) => bar(row, board) },
  ]
  const body = board.rows.map((row) => columns.map(({ cell }) => cell(row)))
  const last = columns.map(({ ofAll = '' }) => ofAll)
  const numbers = columns.slice(2).map(({ head }) => head)
  const table = drawTable(caption, { words: ['Rank', noun], numbers, head: 1 }, [...body, last], ' ranking')
  return { table, dropped: whole.dropped }
}

interface Column {
  head: string
  cell: (row: LeaderboardRow) => Cell
  /** In the last row, of all models. */
  ofAll?: Cell
}

function when(isShown: boolean, column: Column): Column[] {
  return isShown ? [column] : []
}

/** In tokens per day, because months differ in length. */
function changeOf({ tokens, before }: LeaderboardRow, period: Period | undefined): string {
  if (before.kind !== 'known' || before.tokens === 0n) return '–'
  return formatChange(before.tokens * BigInt(period?.days ?? 1), tokens * BigInt(period?.before?.days ?? 1))
}

function movementOf({ rank, before }: LeaderboardRow): Cell {
  if (rank === null || before.kind === 'unknown') return ''
  if (before.kind === 'new') return 'new'
  const places = (before.rank ?? rank) - rank
  if (places === 0) return html`<span aria-hidden="true">–</span><span class="visually-hidden">same rank</span>`
  const [arrow, word] = places > 0 ? ['▲', 'up'] : ['▼', 'down']
  return html`<span aria-hidden="true">${arrow} </span><span class="visually-hidden">${word} </span>${Math.abs(places)}`
}

/** Its full width is the first rank. */
function bar({ tokens, rank }: LeaderboardRow, { rows }: Leaderboard): Html {
  const widest = rows.find((row) => row.rank === 1)?.tokens ?? 0n
  if (rank === null || widest === 0n) return html``
  const width = Number((tokens * 1000n) / widest) / 10
  return html`<svg class="bar" aria-hidden="true"><rect width="${width}%" height="99"/></svg>`
}

function unranked(name: string, isUnderRule: boolean): Html {
  if (name !== OTHER) return html`${name}`
  return html`${name} <small>(${isUnderRule ? 'all models that are not named' : `all models outside the top ${TOP_MODELS}`})</small>`
}

function link({ text, path }: ReturnType<Grouping['linkOf']>, from: string): Html {
  return path === undefined ? html`${text}` : html`<a href="${rootFrom(from)}${path}">${text}</a>`
}

function firstDatesOf({ models }: SiteFacts, nameOf: Grouping['nameOf']): Map<string, UtcDate> {
  const dates = new Map<string, UtcDate>()
  for (const { model_permaslug, first_date } of models) {
    const name = nameOf(model_permaslug)
    if (name === undefined) continue
    const known = dates.get(name)
    if (known === undefined || first_date < known) dates.set(name, first_date)
  }
  return dates
}

function droppedNote(dropped: readonly string[], { path, period }: Ranking, facts: SiteFacts): Html {
  if (period === undefined || dropped.length === 0) return html``
  const linkOf = modelLinks(facts)
  const links = commaSeparated(dropped.map((slug) => link(linkOf(slug), path)))
  const where = isRuled(facts.manifest) ? 'Named' : `In the top ${TOP_MODELS}`
  return html`<p class="quiet">${where} ${earlierWords(period)}, but not now: ${links}.</p>
`
}
