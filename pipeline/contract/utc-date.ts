// Single modules: the index of date-fns loads hundreds of files in half a second, and the whole UTC date three formatters
// that take as long as all of zod.
import { UTCDateMini } from '@date-fns/utc/date/mini'
import { parseISO } from 'date-fns/parseISO'
import { z } from 'zod'

/** The first UTC date of the dataset. Nothing before it is published or served. */
export const DATASET_START = '2025-01-01'

/** The context in which date-fns calculates. */
const utc = (value: Date | number | string) => new UTCDateMini(+new Date(value))

const PATTERN = /^\d{4}-\d{2}-\d{2}$/
const MILLISECONDS_PER_DAY = 86_400_000

/** An existing UTC date `YYYY-MM-DD`: not `2026-02-30`. Dates compare as text. */
export const UtcDate = z
  .string()
  .regex(PATTERN, { error: 'must have the form YYYY-MM-DD', abort: true })
  .refine(isInCalendar, { error: 'is not a date of the calendar' })
  .meta({ format: 'date', examples: ['2026-11-19'] })
export type UtcDate = z.infer<typeof UtcDate>

/** By arithmetic: requests and releases have so many dates that making a `Date` of each takes as long as all else. */
function isInCalendar(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))]
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeap ? 29 : (DAYS_OF_MONTH[month] ?? 0)
  return day >= 1 && day <= days
}

/** From January on, in a year that is not a leap year. */
const DAYS_OF_MONTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function addDays(date: UtcDate, days: number): UtcDate {
  return toUtcDate(new Date(midnight(date) + days * MILLISECONDS_PER_DAY))
}

export function daysBetween(first: UtcDate, last: UtcDate): number {
  return (midnight(last) - midnight(first)) / MILLISECONDS_PER_DAY
}

/** All dates from `first` to `last`, both included. */
export function datesBetween(first: UtcDate, last: UtcDate): UtcDate[] {
  return Array.from({ length: daysBetween(first, last) + 1 }, (_, day) => addDays(first, day))
}

/** Without date-fns, because pages and coverage ask for thousands. Every UTC day has the same length. */
function midnight(date: UtcDate): number {
  return Date.parse(`${date}T00:00:00Z`)
}

export function toUtcDate(instant: Date): UtcDate {
  return instant.toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/** Midnight UTC at the start of `date`; an invalid `Date` if there is no such date. */
export function toInstant(date: string): Date {
  return parseISO(date, { in: utc })
}

/** The last UTC date that has ended at `now`. */
export function mostRecentCompletedDay(now: Date): UtcDate {
  return addDays(toUtcDate(now), -1)
}
