import type { DateRange, Manifest } from '../contract/manifest.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import type { OldCounts } from '../raw/records.ts'

/** The name that `--accept` takes to keep old counts. */
export const OLD_COUNTS = 'old_counts'

export function markOldCounts(
  counted: readonly OldCounts[],
  published: ReadonlySet<UtcDate>,
): Pick<Manifest, 'old_counts'> {
  const dates = counted.map(({ date }) => date).filter((date) => published.has(date))
  return dates.length === 0 ? {} : { old_counts: toRanges(dates) }
}

/** Names sources and dates with old counts, unless accepted or already in `current`: then undefined. */
export function refuseOldCounts(
  counted: readonly OldCounts[],
  marked: Pick<Manifest, 'old_counts'>,
  { current, accepted }: { current: Pick<Manifest, 'old_counts'> | undefined; accepted: readonly string[] },
): string | undefined {
  if (accepted.includes(OLD_COUNTS)) return undefined
  const fresh = counted.filter(({ date }) => hasOldCounts(marked, date) && !hasOldCounts(current ?? {}, date))
  if (fresh.length === 0) return undefined
  const lines = [...Map.groupBy(fresh, ({ source, is_archived }) => `${is_archived} ${source}`).values()].map((own) => {
    const [{ source = '', is_archived = false } = {}] = own
    const ranges = toRanges(own.map(({ date }) => date)).map(describeRange)
    return `  source ${JSON.stringify(source)}, ${is_archived ? 'archived' : 'raw files missing'}: ${ranges.join(', ')}`
  })
  const isMissing = fresh.some(({ is_archived }) => !is_archived)
  return (
    'this version of Tokenboard reads some sources differently, and these dates cannot be read again; nothing was published\n' +
    `${lines.join('\n')}\n${isMissing ? 'restore the missing raw files, or ' : ''}keep the old numbers and ` +
    `mark these dates in the coverage, with: tokenboard build --accept ${OLD_COUNTS}`
  )
}

export function hasOldCounts({ old_counts = [] }: Pick<Manifest, 'old_counts'>, date: UtcDate): boolean {
  return old_counts.some(({ start_date, end_date }) => start_date <= date && date <= end_date)
}

export function describeRange({ start_date, end_date }: DateRange): string {
  return start_date === end_date ? start_date : `${start_date} to ${end_date}`
}

/** Merges adjacent dates into ranges. */
export function toRanges(dates: readonly UtcDate[]): DateRange[] {
  const ranges: DateRange[] = []
  for (const date of [...new Set(dates)].sort()) {
    const range = ranges.at(-1)
    if (range !== undefined && addDays(range.end_date, 1) === date) range.end_date = date
    else ranges.push({ start_date: date, end_date: date })
  }
  return ranges
}
