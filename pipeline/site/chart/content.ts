import type { Grain, Window } from './calendar.ts'
import { type CellOptions, cellsOf } from './cells.ts'
import type { ChartRow } from './rows.ts'
import type { Content } from './scene.ts'
import { chooseSeries, type SeriesOptions } from './series.ts'

export interface ContentOptions extends CellOptions, SeriesOptions {
  window: Window
  grain: Grain
  form: Content['form']
  measure: Content['measure']
}

/** A chart of the rows of one table: the largest names, or the chosen ones, and the rest. */
export function contentOf(
  rows: readonly ChartRow[],
  { window, grain, form, measure, ...more }: ContentOptions,
): Content {
  const cells = cellsOf(rows, window, grain, more)
  return { grain, form, measure, periods: cells.periods, totals: cells.totals, series: chooseSeries(cells, more) }
}
