import { mostRecentCompletedDay, type UtcDate } from '../../pipeline/contract/utc-date.ts'
import { resolveWindow, type Window, WindowError } from '../../pipeline/contract/window.ts'
import { currentDay } from '../base/current-day.ts'
import { invalidRequest } from '../base/errors.ts'

interface AskedWindow {
  start_date?: UtcDate | undefined
  end_date?: UtcDate | undefined
}

/**
 * Resolves windows. What follows from the date alone is worked out once a day: calendar arithmetic would be the slowest
 * part of an answer. Throws the 400.
 */
export function windowResolver(now: () => Date): (asked: AskedWindow) => Window {
  const dayOf = currentDay()
  let day: UtcDate | undefined
  let lastCompleted: UtcDate = ''
  let usual: Window | undefined

  return (asked) => {
    const instant = now()
    const today = dayOf(instant)
    if (today !== day || usual === undefined) {
      lastCompleted = mostRecentCompletedDay(instant)
      usual = resolveWindow({}, lastCompleted)
      day = today
    }
    const isUsual = asked.start_date === undefined && asked.end_date === undefined
    return isUsual ? usual : resolve(asked, lastCompleted)
  }
}

function resolve(asked: AskedWindow, lastCompleted: UtcDate): Window {
  try {
    return resolveWindow(asked, lastCompleted)
  } catch (error) {
    if (error instanceof WindowError) throw invalidRequest([{ path: error.parameter, message: error.message }])
    throw error
  }
}
