import type { Coverage, CoverageDay } from '../contract/ledger.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** The days that the current release has rows of, and so a page. */
export function coveredDays({ days }: Pick<Coverage, 'days'>): CoverageDay[] {
  return days.filter(({ status }) => status !== 'missing')
}

export function dayPath(date: UtcDate): string {
  return `days/${date}.html`
}
