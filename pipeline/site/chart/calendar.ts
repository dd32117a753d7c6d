/** Dates are texts `2026-11-19` in UTC, which compare as text. The machine's zone never matters. */
export const MILLISECONDS_PER_DAY = 86_400_000
const FORM = /^\d{4}-\d{2}-\d{2}$/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Weeks follow ISO 8601: they begin on Monday. */
export type Grain = 'day' | 'week' | 'month'

/** The first and the last date of what is drawn. */
export interface Window {
  from: string
  to: string
}

/** True for a calendar date; `2026-02-30` is none. */
export function isDate(text: string): boolean {
  return FORM.test(text) && !Number.isNaN(Date.parse(text)) && toDate(instantOf(text)) === text
}

/** Midnight UTC of a date, in milliseconds. */
export function instantOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`)
}

export function toDate(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

export function addDays(date: string, days: number): string {
  return toDate(instantOf(date) + days * MILLISECONDS_PER_DAY)
}

export function daysBetween(first: string, last: string): number {
  return (instantOf(last) - instantOf(first)) / MILLISECONDS_PER_DAY
}

/** The first date of the day, week or month of a date. */
export function startOf(date: string, grain: Grain): string {
  if (grain === 'day') return date
  if (grain === 'month') return `${date.slice(0, 8)}01`
  const daysAfterMonday = (new Date(instantOf(date)).getUTCDay() + 6) % 7
  return addDays(date, -daysAfterMonday)
}

/** The first date after the day, week or month that starts on `start`. */
export function endOf(start: string, grain: Grain): string {
  if (grain === 'day') return addDays(start, 1)
  return grain === 'week' ? addDays(start, 7) : startOf(addDays(start, 31), 'month')
}

/** `Nov 19`, `Nov 19, 2026` where a year begins on the axis, or `Nov 2026`. */
export function tickName(date: string, { isMonth, isNewYear }: { isMonth: boolean; isNewYear: boolean }): string {
  const [year = '', month = '', day = ''] = date.split('-')
  const name = MONTHS[Number(month) - 1] ?? ''
  if (isMonth) return `${name} ${year}`
  return `${name} ${Number(day)}${isNewYear ? `, ${year}` : ''}`
}
