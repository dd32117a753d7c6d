import { type Html, html } from '../contract/html.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { authorsOf, NO_AUTHOR } from './authors.ts'
import { familyOf } from './chart/rows.ts'
import { ALL_OTHERS } from './chart/series.ts'
import { commaSeparated } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { rootFrom } from './layout.ts'
import { entriesOf, firstRanks, leaderboard } from './leaderboard.ts'
import { earlierWords, hasChange, type Period } from './leaderboard-period.ts'
import { changeOf, leaderboardTable } from './leaderboard-table.ts'
import { authorPath, modelPath } from './model-path.ts'

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
  const board = leaderboard(entries(rows), entries(period?.before?.rows ?? []))
  const firstDates = firstDatesOf(facts, nameOf)
  const table = leaderboardTable({
    noun,
    caption,
    isAtLeast,
    board: firstRanks(board, most, ALL_OTHERS),
    nameOf: ({ name, rank }) => (rank === null ? unranked(name, isRuled(facts.manifest)) : link(linkOf(name), path)),
    hasMovement: period?.before !== undefined,
    changeOf: period && hasChange(period) ? (row) => changeOf(row, period.days, period.before?.days) : undefined,
    firstSeen: ({ name, rank }) => (rank === null ? undefined : firstDates.get(name)),
  })
  return { table, dropped: board.dropped }
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
