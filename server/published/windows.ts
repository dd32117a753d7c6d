import { toUtcDate, type UtcDate } from '../../pipeline/contract/utc-date.ts'
import { resolveWindow, type Window, WindowError } from '../../pipeline/contract/window.ts'
import { invalidRequest } from '../base/errors.ts'

/** Windows that were resolved on one day: more than there are pairs of dates that anybody asks for again and again. */
const MOST_WINDOWS = 10_000

/** What a client asked for. */
interface AskedWindow {
  start_date?: UtcDate | undefined
  end_date?: UtcDate | undefined
}

/**
 * Resolves windows as `resolveWindow` does, and remembers them until the UTC day is over: calendar arithmetic takes
 * longer than all else that is done for an answer. The returned function throws the 400 for a window that cannot be.
 */
export function rememberedWindows(now: () => Date): (asked: AskedWindow) => Window {
  const known = new Map<string, Window>()
  let day: UtcDate | undefined

  return (asked) => {
    const instant = now()
    const today = toUtcDate(instant)
    if (today !== day || known.size >= MOST_WINDOWS) known.clear()
    day = today
    const name = `${asked.start_date} ${asked.end_date}`
    const window = known.get(name) ?? resolve(asked, instant)
    known.set(name, window)
    return window
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
