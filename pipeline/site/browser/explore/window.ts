import { addDays, daysBetween, endOf, type Grain, startOf, type Window } from '../../chart/calendar.ts'
import type { ChartRow } from '../../chart/rows.ts'
import { DEFAULT_VIEW, type View } from './view.ts'

/** The first and last date of rows in published order. Throws if there are none. */
export function reachOf(rows: readonly ChartRow[]): Window {
  const [first, last] = [rows.at(0), rows.at(-1)]
  if (first === undefined || last === undefined) throw new Error('the file has no rows')
  return { from: first.date, to: last.date }
}

/** Clips the window to the release. Outside of it, the default applies with a notice. */
export function resolveWindow(asked: View['window'], reach: Window): { window: Window; notices: string[] } {
  if ('days' in asked) return { window: lastDays(asked.days, reach), notices: [] }
  const there = `The release has the dates from ${reach.from} to ${reach.to}.`
  if (asked.to < reach.from || asked.from > reach.to) {
    const { window } = resolveWindow(DEFAULT_VIEW.window, reach)
    return { window, notices: [`${there} None of ${asked.from} to ${asked.to} is among them.`] }
  }
  const window = {
    from: asked.from < reach.from ? reach.from : asked.from,
    to: asked.to > reach.to ? reach.to : asked.to,
  }
  const isWhole = window.from === asked.from && window.to === asked.to
  return { window, notices: isWhole ? [] : [`${there} The window was cut to them.`] }
}

/** Moves both ends outwards to whole periods, at most to the dates of the release. */
export function wholePeriods({ from, to }: Window, grain: Grain, reach: Window): Window {
  const [first, last] = [startOf(from, grain), addDays(endOf(startOf(to, grain), grain), -1)]
  return { from: first < reach.from ? reach.from : first, to: last > reach.to ? reach.to : last }
}

const LEAST_STEP = 3
const DAYS: Readonly<Record<Grain, number>> = { day: 1, week: 7, month: 30 }

/** The finest grain of which a period is at least three pixels wide. */
export function grainFor({ from, to }: Window, width: number, grains: readonly Grain[]): Grain {
  const days = daysBetween(from, to) + 1
  return grains.find((grain) => (width / days) * DAYS[grain] >= LEAST_STEP) ?? grains.at(-1) ?? 'day'
}

function lastDays(days: number | 'all', reach: Window): Window {
  const from = days === 'all' ? reach.from : addDays(reach.to, 1 - days)
  return { from: from < reach.from ? reach.from : from, to: reach.to }
}
