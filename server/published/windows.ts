import { toUtcDate, type UtcDate } from '../../pipeline/contract/utc-date.ts'
import { resolveWindow, type Window, WindowError } from '../../pipeline/contract/window.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import { invalidRequest } from '../base/errors.ts'

const MOST_WINDOWS = 10_000

interface AskedWindow {
  start_date?: UtcDate | undefined
  end_date?: UtcDate | undefined
}

/** Resolves each window once a day: calendar arithmetic is the slowest part of an answer. Throws the 400. */
export function rememberedWindows(now: () => Date): (asked: AskedWindow) => Window {
  const known = new BoundedCache<Window>(MOST_WINDOWS)

  return (asked) => {
    const instant = now()
    return known.find(`${toUtcDate(instant)} ${asked.start_date} ${asked.end_date}`, () => resolve(asked, instant))
  }
}

function resolve(asked: AskedWindow, now: Date): Window {
  try {
    return resolveWindow(asked, now)
  } catch (error) {
    if (error instanceof WindowError) throw invalidRequest([{ path: error.parameter, message: error.message }])
    throw error
  }
}
