import type { Coverage, CoverageDay } from '../contract/ledger.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** The days that the current release has rows of. */
export function coveredDays({ days }: Pick<Coverage, 'days'>): CoverageDay[] {
  return days.filter(({ status }) => status !== 'missing')
}

/** The place of a day in the calendar, which has the newest years. */
export function dayPath(date: UtcDate): string {
  return `coverage.html#${date}`
}
