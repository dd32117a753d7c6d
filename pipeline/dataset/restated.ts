import { counted } from '../base/numbers.ts'
import type { TableChanges } from '../contract/change-log.ts'
import type { RestatedPeriod } from '../contract/ledger.ts'
import { type Manifest, type ManifestDraft, provisionalFrom } from '../contract/manifest.ts'
import { firstProvisional, lastDateOf, PERIOD_TABLES, type Table } from '../contract/tables.ts'
import { datesBetween, type UtcDate } from '../contract/utc-date.ts'
import type { IsFirst } from './first-dates.ts'

/** What a release changes of rows that were final. */
export interface Restated {
  dates: UtcDate[]
  /** Weeks and months, by the date of their rows. */
  periods: ChangedPeriod[]
}

type ChangedPeriod = Pick<RestatedPeriod, 'table' | 'date'>

/**
 * Tells whether changed rows restate a release: they were final, or missing at that age. Rows of dates
 * that nobody has seen do not.
 */
export function restates(
  { as_of, end_date }: Pick<Manifest, 'as_of' | 'end_date'>,
  isFirst: IsFirst,
): (table: Table, date: UtcDate) => boolean {
  const provisional_from = provisionalFrom(as_of)
  return (table, date) =>
    date < firstProvisional(table, { provisional_from, as_of, end_date }) &&
    date <= end_date &&
    !datesBetween(date, lastDateOf(table, date)).every(isFirst)
}

/** What changes restate of the current release, which may have no tables of weeks and months. */
export function restatedBy(
  changes: TableChanges,
  { current, isFirst }: { current: ManifestDraft | undefined; isFirst: IsFirst },
): Restated {
  if (current === undefined) return { dates: [], periods: [] }
  const isRestated = restates(current, isFirst)
  const datesIn = (table: Table) => {
    const dates = (changes[table] ?? []).map(({ date }) => date).filter((date) => isRestated(table, date))
    return [...new Set(dates)].sort()
  }
  const tables = current.tables === undefined ? [] : PERIOD_TABLES
  return {
    dates: datesIn('daily'),
    periods: tables.flatMap((table) => datesIn(table).map((date) => ({ table, date }))),
  }
}

const NAMED = 5
const NOUNS = { daily: 'date', weekly: 'week', monthly: 'month' } as const

/** Such as `2 final weeks and 1 final month`; empty if none. */
export function countPeriods(periods: readonly ChangedPeriod[] = []): string {
  const tables = Map.groupBy(periods, ({ table }) => table)
  return [...tables].map(([table, own]) => counted(own.length, `final ${NOUNS[table]}`)).join(' and ')
}

/** Such as `1 final date, 2025-03-02; 1 final month, 2025-03`. */
export function describeRestated({ dates, periods }: Restated): string {
  const all = [...dates.map((date) => ({ table: 'daily' as const, date })), ...periods]
  return [...Map.groupBy(all, ({ table }) => table)]
    .map(([table, own]) => {
      const names = own.slice(0, NAMED).map(({ date }) => (table === 'monthly' ? date.slice(0, 7) : date))
      const more = own.length > NAMED ? ` and ${own.length - NAMED} more` : ''
      return `${counted(own.length, `final ${NOUNS[table]}`)}, ${names.join(', ')}${more}`
    })
    .join('; ')
}
