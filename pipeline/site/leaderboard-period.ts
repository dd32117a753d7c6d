import type { Manifest } from '../contract/manifest.ts'
import { type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { firstDateOf, firstProvisional, GRAINS, lastDateOf, type Table, type TableRow } from '../contract/tables.ts'
import { addDays, daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import type { SiteFacts } from './facts.ts'

/** What a leaderboard is about: a day, a week or a month, and the one that it is compared with. */
export interface Period {
  table: Table
  first: UtcDate
  last: UtcDate
  rows: readonly RankingRow[]
  /** How many of its dates are published, and how many it has in the calendar. */
  days: number
  calendarDays: number
  isProvisional: boolean
  /** Undefined if the release does not have it. */
  before: { first: UtcDate; rows: readonly RankingRow[]; days: number; calendarDays: number } | undefined
}

type Told = Pick<SiteFacts, 'manifest' | 'rows' | 'periods'>

/** The newest day, or the newest week or month that is over; undefined if there is none. */
export function newestPeriod(facts: Told, table: Table): Period | undefined {
  const rows = rowsIn(facts, table)
  const newest = rows.findLast(({ date }) => lastDateOf(table, date) <= facts.manifest.end_date)
  return newest && periodOf(facts, table, newest.date)
}

/** The period that begins on a date. Days and weeks are compared with those a week earlier, because usage follows the week. */
function periodOf(facts: Told, table: Table, first: UtcDate): Period {
  const { manifest } = facts
  const earlier = table === 'monthly' ? firstDateOf(table, addDays(first, -1)) : addDays(first, -7)
  const before = sizeOf(facts, table, earlier)
  return {
    table,
    first,
    last: lastDateOf(table, first),
    ...sizeOf(facts, table, first),
    isProvisional: !isRuled(manifest) && first >= firstProvisional(table, manifest),
    before: before.rows.length === 0 ? undefined : { first: earlier, ...before },
  }
}

/** The week or month that has begun and is not over, and how many of its dates are published. */
export function runningPeriod(
  facts: Told,
  table: Table,
): { first: UtcDate; days: number; calendarDays: number } | undefined {
  const newest = rowsIn(facts, table).at(-1)?.date
  if (newest === undefined || lastDateOf(table, newest) <= facts.manifest.end_date) return undefined
  const { days, calendarDays } = sizeOf(facts, table, newest)
  return { first: newest, days, calendarDays }
}

/** Whether the release ranks a week that is over, so that there is a leaderboard of it. */
export function hasWeek({ tables, end_date }: Pick<Manifest, 'tables' | 'end_date'>): boolean {
  return tables !== undefined && lastDateOf('weekly', tables.weekly.start_date) <= end_date
}

/** Tokens are compared only between whole periods. */
export function hasChange({ days, calendarDays, before }: Period): boolean {
  return before !== undefined && days === calendarDays && before.days === before.calendarDays
}

export function earlierWords({ table }: Pick<Period, 'table'>): string {
  return table === 'monthly' ? 'a month earlier' : 'a week earlier'
}

/** Says which dates a period has, what is provisional, and what it is compared with. */
export function aboutPeriod(period: Period, { manifest }: Told): string {
  const { table, first, last, days, calendarDays, before, isProvisional } = period
  const when = table === 'daily' ? `on ${first}` : `from ${first} to ${last}`
  const status = isRuled(manifest) ? '' : isProvisional ? ', provisional' : ', final'
  const sentences = [`Tokens ${when} (UTC)${status}.`]
  const unit = GRAINS[table]
  if (days < calendarDays) sentences.push(`Only ${days} of the ${calendarDays} days of this ${unit} are published.`)
  if (before === undefined)
    return [...sentences, `There is no ${unit} ${earlierWords(period)} to compare with.`].join(' ')
  const earlier = table === 'daily' ? before.first : `the ${unit} before`
  const wasNew = isRuled(manifest) ? 'not named' : `not in the top ${TOP_MODELS}`
  const what = hasChange(period) ? 'Places moved and change in tokens are' : 'Places moved are'
  sentences.push(`${what} against ${earlier}. “new”: ${wasNew} ${earlierWords(period)}.`)
  if (before.days < before.calendarDays)
    sentences.push(
      `Only ${before.days} of the ${before.calendarDays} days of the ${unit} before are published, so changes in tokens are not shown.`,
    )
  if (hasChange(period) && days !== before.days)
    sentences.push('Changes are in tokens per day, because months differ in length.')
  return sentences.join(' ')
}

function sizeOf(facts: Told, table: Table, first: UtcDate) {
  const rows = rowsIn(facts, table).filter(({ date }) => date === first)
  const calendarDays = daysBetween(first, lastDateOf(table, first)) + 1
  return { rows, days: rows[0]?.days ?? calendarDays, calendarDays }
}

function rowsIn({ rows, periods }: Told, table: Table): readonly TableRow[] {
  return table === 'daily' ? rows : (periods?.[table] ?? [])
}
