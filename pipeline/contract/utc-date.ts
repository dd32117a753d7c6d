import { utc } from '@date-fns/utc'
// Single modules: the index of date-fns loads hundreds of files in half a second; `format` loads a locale.
import { addDays as addDaysTo } from 'date-fns/addDays'
import { isValid } from 'date-fns/isValid'
import { parseISO } from 'date-fns/parseISO'
import { z } from 'zod'

/** The first UTC date of the dataset (SPECIFICATION.md § Endpoints 5). Nothing before it is published or served. */
export const DATASET_START = '2025-01-01'

const PATTERN = /^\d{4}-\d{2}-\d{2}$/
const MILLISECONDS_PER_DAY = 86_400_000

/** An existing UTC date `YYYY-MM-DD`: not `2026-02-30`. Dates compare as text. */
export const UtcDate = z
  .string()
  .regex(PATTERN, { error: 'must have the form YYYY-MM-DD', abort: true })
  .refine(isInCalendar, { error: 'is not a date of the calendar' })
  .meta({ format: 'date', examples: ['2026-11-19'] })
export type UtcDate = z.infer<typeof UtcDate>

/** Ten times faster than `toInstant`: a release has tens of thousands of dates. */
function isInCalendar(text: string): boolean {
  const instant = new Date(`${text}T00:00:00Z`)
  return isValid(instant) && instant.toISOString().startsWith(text)
}

export function addDays(date: UtcDate, days: number): UtcDate {
  return toUtcDate(addDaysTo(toInstant(date), days, { in: utc }))
}

export function daysBetween(first: UtcDate, last: UtcDate): number {
  return (toInstant(last).getTime() - toInstant(first).getTime()) / MILLISECONDS_PER_DAY
}

/** All dates from `first` to `last`, both included. */
export function datesBetween(first: UtcDate, last: UtcDate): UtcDate[] {
  return Array.from({ length: daysBetween(first, last) + 1 }, (_, day) => addDays(first, day))
}

export function toUtcDate(instant: Date): UtcDate {
  return instant.toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/** Midnight UTC at the start of `date`; an invalid `Date` if there is no such date. */
export function toInstant(date: string): Date {
  return parseISO(date, { in: utc })
}

/** The last UTC date that has ended at `now` (DESIGN.md §6.10). */
export function mostRecentCompletedDay(now: Date): UtcDate {
  return addDays(toUtcDate(now), -1)
}
