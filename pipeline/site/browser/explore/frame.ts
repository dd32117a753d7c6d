import type { Grain, Window } from '../../chart/calendar.ts'
import { type Cells, cellsOf } from '../../chart/cells.ts'
import type { ChartRow } from '../../chart/rows.ts'
import { type Content, UNIT } from '../../chart/scene.ts'
import { chooseSeries, MOST_SERIES } from '../../chart/series.ts'
import { type Entry, entriesOf, searchEntries } from './entries.ts'
import { formOf, hasRest, type NameOf, PLURAL, type View } from './view.ts'
import { resolveWindow, wholePeriods } from './window.ts'

export interface Shown {
  view: View
  grain: Grain
  /** As a person chose it, cut to the release. */
  window: Window
  /** The same with whole weeks or months. */
  span: Window
  cells: Cells
  /** All series, hidden ones too. */
  content: Content
  entries: readonly Entry[]
  notices: string[]
}

export interface Known {
  reach: Window
  grain: Grain
  provisionalFrom: string | undefined
  restated: ReadonlySet<string>
  nameOf: NameOf
  /** All names of the release, the largest first. */
  order: readonly string[]
  /** The colors of the chart before. */
  kept: ReadonlyMap<string, number>
}

/** What a view shows, made anew only if what it is made from has changed. */
export interface Memory {
  cells: (key: string, make: () => Cells) => Cells
  entries: (key: string, make: () => Entry[]) => Entry[]
}

/** Applies a view to the rows of its table. Unknown names stay in the view with a notice. */
export function show(rows: readonly ChartRow[], view: View, known: Known, memory: Memory = FORGETFUL): Shown {
  const { reach, grain, order, kept } = known
  const { window, notices } = resolveWindow(view.window, reach)
  const span = wholePeriods(window, grain, reach)
  const restated = grain === 'day' ? known.restated : undefined
  const nameOf = known.nameOf[view.of]
  const { provisionalFrom } = known
  const key = JSON.stringify([grain, span, view.of])
  const cells = memory.cells(key, () => cellsOf(rows, span, grain, { provisionalFrom, restated, nameOf }))
  const missing = view.names.filter((name) => !cells.names.has(name))
  if (missing.length > 0) notices.push(`Without tokens among those named in this window: ${missing.join(', ')}.`)
  if (view.names.length > MOST_SERIES) {
    const all = `${view.names.length} chosen ${PLURAL[view.of]}`
    notices.push(`The chart draws the ${MOST_SERIES} largest of the ${all}; the table has all.`)
  }
  const rest = hasRest(view) ? 'apart' : 'none'
  const series = chooseSeries(cells, { chosen: view.names, rest, order, kept })
  const { periods, totals } = cells
  const content: Content = {
    grain,
    periods,
    totals,
    series,
    form: formOf(view),
    measure: view.show,
    isLog: view.isLog,
  }
  const all = memory.entries(JSON.stringify([key, view.names]), () => entriesOf(cells, view.names))
  const entries = searchEntries(all, view.search)
  return { view, grain, window, span, cells, content, entries, notices }
}

const FORGETFUL: Memory = { cells: (_, make) => make(), entries: (_, make) => make() }

/** Remembers the newest value. */
export function lastOf<T>(): (key: string, make: () => T) => T {
  let last: { key: string; value: T } | undefined
  return (key, make) => {
    if (last?.key !== key) last = { key, value: make() }
    return last.value
  }
}

/** What is drawn: the series that are not hidden. */
export function drawnContent({ content, view }: Pick<Shown, 'content' | 'view'>): Content {
  return { ...content, series: content.series.filter(({ name }) => !view.hidden.includes(name)) }
}

/** The colors of a chart, by name. */
export function colorsOf({ series }: Content): Map<string, number> {
  const colors = series.map(({ name, paint }) => [name, Number(paint.slice(1))] as const)
  return new Map(colors.filter(([, color]) => !Number.isNaN(color)))
}

const MEASURE = { tokens: 'Tokens', share: 'Share of all tokens', index: 'Index of tokens' } as const
const OF = { model: '', family: ' by family', author: ' by author' } as const

export function titleOf({ view, grain, span }: Pick<Shown, 'view' | 'grain' | 'span'>): string {
  return `${MEASURE[view.show]}${OF[view.of]} ${UNIT[grain]}, ${span.from} to ${span.to}`
}
