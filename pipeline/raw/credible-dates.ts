import type { Database } from '../base/database.ts'
import { addDays, toUtcDate, type UtcDate } from '../contract/utc-date.ts'

/** No gateway logged tokens before this date. Earlier timestamps have the wrong unit. */
export const FIRST_CREDIBLE_DATE: UtcDate = '2015-01-01'

/** Tomorrow. Later timestamps have the wrong unit or come from a wrong clock. */
export function lastCredibleDate(now: Date): UtcDate {
  return addDays(toUtcDate(now), 1)
}

/** Sets the dates that the macro `is_misdated` accepts; a wrong unit makes others. Each build sets them again. */
export async function setCredibleDates(database: Database, last: UtcDate): Promise<void> {
  for (const [name, day] of Object.entries(credibleDays(last))) await database.setVariable(name, day)
}

/** The variables that the macro reads. */
export function credibleDays(last: UtcDate): Record<string, bigint> {
  return { first_credible_day: dayNumber(FIRST_CREDIBLE_DATE), last_credible_day: dayNumber(last) }
}

const MILLISECONDS_PER_DAY = 86_400_000

function dayNumber(date: UtcDate): bigint {
  return BigInt(Date.parse(date) / MILLISECONDS_PER_DAY)
}
