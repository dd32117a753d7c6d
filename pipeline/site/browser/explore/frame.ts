import { type Entry, entriesOf, searchEntries } from './entries.ts'
import type { Row } from './row.ts'
import { chooseSeries, MOST_SERIES, type Series } from './series.ts'
import { type Sums, sumRows } from './sums.ts'
import type { View } from './view.ts'
import { reachOf, resolveWindow, type Window } from './window.ts'

export interface Shown {
  view: View
  window: Window
  sums: Sums
  series: readonly Series[]
  entries: readonly Entry[]
  notices: string[]
}

/** Applies a view to the rows. Unknown models stay in the view with a notice. */
export function show(rows: readonly Row[], view: View): Shown {
  const { window, notices } = resolveWindow(view.window, reachOf(rows))
  const sums = sumRows(rows, window, view.by)
  const missing = view.models.filter((slug) => !sums.models.has(slug))
  if (missing.length > 0) notices.push(`Without tokens among those named in this window: ${missing.join(', ')}.`)
  if (view.models.length > MOST_SERIES)
    notices.push(
      `The chart draws the ${MOST_SERIES} largest of the ${view.models.length} chosen models; the table has all.`,
    )
  const series = chooseSeries(sums, view.models, view.rest)
  const entries = searchEntries(entriesOf(sums, view.models), view.search)
  return { view, window, sums, series, entries, notices }
}

const UNIT = { day: 'per day', week: 'per week', month: 'per month' } as const

export function titleOf({ view, window }: Pick<Shown, 'view' | 'window'>): string {
  const what = view.show === 'share' ? 'Share of all tokens' : 'Tokens'
  return `${what} ${UNIT[view.by]}, ${window.from} to ${window.to}`
}
