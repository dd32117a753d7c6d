import { type Cells, cellsOf } from './cells.ts'
import { type Entry, entriesOf, searchEntries } from './entries.ts'
import type { Row } from './row.ts'
import { chooseSeries, MOST_SERIES, type Series } from './series.ts'
import type { View } from './view.ts'
import { resolveWindow, type Window, wholePeriods } from './window.ts'

export interface Shown {
  view: View
  /** As a person chose it, cut to the release. */
  window: Window
  /** The same with whole weeks or months. */
  span: Window
  cells: Cells
  series: readonly Series[]
  entries: readonly Entry[]
  notices: string[]
}

/** Applies a view to the rows of its table. Unknown models stay in the view with a notice. */
export function show(
  rows: readonly Row[],
  view: View,
  { reach, provisionalFrom }: { reach: Window; provisionalFrom: string | undefined },
): Shown {
  const { window, notices } = resolveWindow(view.window, reach)
  const span = wholePeriods(window, view.by, reach)
  const cells = cellsOf(rows, span, view.by, view.by === 'day' ? undefined : provisionalFrom)
  const missing = view.models.filter((slug) => !cells.models.has(slug))
  if (missing.length > 0) notices.push(`Without tokens among those named in this window: ${missing.join(', ')}.`)
  if (view.models.length > MOST_SERIES)
    notices.push(
      `The chart draws the ${MOST_SERIES} largest of the ${view.models.length} chosen models; the table has all.`,
    )
  const series = chooseSeries(cells, view.models, view.rest)
  const entries = searchEntries(entriesOf(cells, view.models), view.search)
  return { view, window, span, cells, series, entries, notices }
}

const UNIT = { day: 'per day', week: 'per week', month: 'per month' } as const

export function titleOf({ view, span }: Pick<Shown, 'view' | 'span'>): string {
  const what = view.show === 'share' ? 'Share of all tokens' : 'Tokens'
  return `${what} ${UNIT[view.by]}, ${span.from} to ${span.to}`
}
