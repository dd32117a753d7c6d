import { addDays, DATASET_START, mostRecentCompletedDay, type UtcDate } from './utc-date.ts'

/** The default window reaches this many days back from its end, both ends included. */
export const DEFAULT_WINDOW_DAYS = 30

/** First and last UTC date of an answer, both included. */
export interface Window {
  start_date: UtcDate
  end_date: UtcDate
}

/** A window that cannot be answered. `parameter` names the query parameter to change. */
export class WindowError extends Error {
  override name = 'WindowError'
  readonly parameter: 'start_date' | 'end_date'

  constructor(parameter: 'start_date' | 'end_date', message: string) {
    super(message)
    this.parameter = parameter
  }
}

/**
 * Resolves what a client asked for to the window that is answered (SPECIFICATION.md § Endpoints 5, API.md).
 *
 * `end_date` defaults to, and is clamped back to, the most recent completed UTC day at `now`. `start_date` defaults to
 * 30 days before the resolved end and is clamped forward to the first day of the dataset.
 * Throws `WindowError` for an end before the dataset or a window without a day.
 */
export function resolveWindow(
  asked: { start_date?: UtcDate | undefined; end_date?: UtcDate | undefined },
  now: Date,
): Window {
  if (asked.end_date !== undefined && asked.end_date < DATASET_START) {
    throw new WindowError('end_date', `${asked.end_date} is before ${DATASET_START}, where the dataset begins`)
  }
  const lastCompleted = mostRecentCompletedDay(now)
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
