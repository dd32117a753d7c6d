import { z } from 'zod'
import { type Manifest, type ManifestDraft, provisionalFrom, type TableFacts } from './manifest.ts'
import { RankingRow } from './ranking.ts'
import { addDays, toInstant, type UtcDate } from './utc-date.ts'

/** The tables of a release, by what a row sums: a UTC date, an ISO 8601 week (Monday to Sunday), or a month. */
export const TABLES = ['daily', 'weekly', 'monthly'] as const
export type Table = (typeof TABLES)[number]

/** The tables whose rows sum several dates. */
export const PERIOD_TABLES = ['weekly', 'monthly'] as const
export type PeriodTable = (typeof PERIOD_TABLES)[number]

/** What the API calls the tables: its parameter `period`. */
export const TABLE_OF = { day: 'daily', week: 'weekly', month: 'monthly' } as const satisfies Record<string, Table>

/** What a row of each table sums, as the parameter `period` and SQL call it. */
export const GRAINS = { daily: 'day', weekly: 'week', monthly: 'month' } as const satisfies Record<Table, string>

/** A row of the weekly or the monthly table. Its `date` is the first of its period: a Monday, or the first of a month. */
export const PeriodRow = RankingRow.extend({
  /** How many dates were summed: those of the period that are published. */
  days: z.int().min(1).max(31),
})
export type PeriodRow = z.infer<typeof PeriodRow>

/** A row of any table. */
export type TableRow = RankingRow & { days?: number | undefined }
export type RowOf<T extends Table> = T extends PeriodTable ? PeriodRow : RankingRow

/** The rows of the tables of periods, in published order. */
export type PeriodRows = Readonly<Record<PeriodTable, readonly PeriodRow[]>>

/** The JSON Schema of their rows, as published in the manifest. */
export const PERIOD_ROW_SCHEMA = z.json().parse(z.toJSONSchema(PeriodRow))

/** The tables that a release has. */
export function tablesIn({ tables }: Pick<Manifest, 'tables'>): readonly Table[] {
  return tables === undefined ? ['daily'] : TABLES
}

/** What a release has in a table; undefined if it does not have the table. */
export function tableFacts(manifest: ManifestDraft, table: Table): TableFacts | undefined {
  return table === 'daily' ? manifest : manifest.tables?.[table]
}

// Without more of date-fns: each of its modules takes a millisecond of the server's start.
const FIRST: Readonly<Record<Table, (date: UtcDate) => UtcDate>> = {
  daily: (date) => date,
  weekly: (date) => addDays(date, -daysSinceMonday(date)),
  monthly: (date) => `${date.slice(0, 'YYYY-MM'.length)}-01`,
}

const LAST: Readonly<Record<Table, (date: UtcDate) => UtcDate>> = {
  daily: (date) => date,
  weekly: (date) => addDays(FIRST.weekly(date), 6),
  monthly: (date) => addDays(FIRST.monthly(addDays(FIRST.monthly(date), 31)), -1),
}

function daysSinceMonday(date: UtcDate): number {
  return (toInstant(date).getUTCDay() + 6) % 7
}

/** The first date of the period that has `date`: the date of its rows. */
export function firstDateOf(table: Table, date: UtcDate): UtcDate {
  return FIRST[table](date)
}

/** The last date of the period that has `date`. */
export function lastDateOf(table: Table, date: UtcDate): UtcDate {
  return LAST[table](date)
}

/**
 * The first provisional period of a release, by the date of its rows. A period is provisional while one of its dates is
 * provisional, missing at the end, or to come. Under a disclosure rule, dates that are published do not change, but a date
 * that could not be published may come until it would be final. For the daily table it is the first provisional date.
 */
export function firstProvisional(
  table: Table,
  { provisional_from, as_of, end_date }: Pick<Manifest, 'provisional_from' | 'as_of' | 'end_date'>,
): UtcDate {
  if (table === 'daily') return provisional_from
  const [first = provisional_from] = [provisional_from, provisionalFrom(as_of), addDays(end_date, 1)].sort()
  return firstDateOf(table, first)
}
