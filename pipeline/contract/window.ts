import { firstDateOf, lastDateOf, type Table } from './tables.ts'
import { addDays, DATASET_START, type UtcDate } from './utc-date.ts'

/** Without `start_date`, a window starts this many days before its end. */
const DEFAULT_WINDOW_DAYS = 30

/** The dates of a response, both ends included. */
export interface Window {
  start_date: UtcDate
  end_date: UtcDate
}

/** A window that cannot be served. `parameter` is the query parameter to change. */
export class WindowError extends Error {
  override name = 'WindowError'
  readonly parameter: 'start_date' | 'end_date'

  constructor(parameter: 'start_date' | 'end_date', message: string) {
    super(message)
    this.parameter = parameter
  }
}

/**
 * Resolves the requested window (docs/specification.md, The ranking). A later `end_date` becomes `lastCompleted`,
 * the most recent completed UTC day. An earlier `start_date` becomes the first day of the dataset. Throws `WindowError` if the
 * end is before the dataset or the window is empty.
 */
export function resolveWindow(
  asked: { start_date?: UtcDate | undefined; end_date?: UtcDate | undefined },
  lastCompleted: UtcDate,
): Window {
  if (asked.end_date !== undefined && asked.end_date < DATASET_START) {
    throw new WindowError('end_date', `${asked.end_date} is before ${DATASET_START}, where the dataset begins`)
  }
  const end = asked.end_date === undefined || asked.end_date > lastCompleted ? lastCompleted : asked.end_date
  const askedStart = asked.start_date ?? addDays(end, -DEFAULT_WINDOW_DAYS)
  const start = askedStart < DATASET_START ? DATASET_START : askedStart
  if (start > end) {
    throw new WindowError(
      'start_date',
      `${start} is after the end of the window, ${end}; the last completed UTC day is ${lastCompleted}`,
    )
  }
  return { start_date: start, end_date: end }
}

/**
 * Moves both ends of a window outwards to whole periods of `table`: the start at most back to the first date of the
 * release, the end at most on to its last date. An end that lies outside of the release stays.
 */
export function wholePeriods(table: Table, { start_date, end_date }: Window, release: Window): Window {
  const first = maxOf(firstDateOf(table, start_date), release.start_date)
  const last = minOf(lastDateOf(table, end_date), release.end_date)
  return { start_date: minOf(start_date, first), end_date: maxOf(end_date, last) }
}

function minOf(a: UtcDate, b: UtcDate): UtcDate {
  return a < b ? a : b
}

function maxOf(a: UtcDate, b: UtcDate): UtcDate {
  return a > b ? a : b
}
