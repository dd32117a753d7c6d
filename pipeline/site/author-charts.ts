import { type Html, html } from '../contract/html.ts'
import { type Author, authorsOf, NO_AUTHOR } from './authors.ts'
import { cellsOf } from './chart/cells.ts'
import type { Content } from './chart/scene.ts'
import { chartFigure } from './chart.ts'
import type { SiteFacts } from './facts.ts'
import { chartDates, periodsIn } from './model-charts.ts'

/** The share of an author over time: by week, or by day if the release has no weeks. Undefined without any. */
export function shareCharts({ manifest, rows, periods, models }: SiteFacts): (author: Author) => Content | undefined {
  const { keyOf } = authorsOf(models)
  const { start_date, end_date } = manifest
  const [grain, table] = periods === undefined ? (['day', rows] as const) : (['week', periods.weekly] as const)
  const nameOf = (slug: string) => keyOf(slug) ?? NO_AUTHOR
  const cells = cellsOf(table, { from: start_date, to: end_date }, grain, { nameOf })
  return ({ key, name, first_date, last_date }) => {
    const values = cells.names.get(key)
    if (values === undefined) return undefined
    const shown = periodsIn(chartDates(first_date, last_date, end_date), cells.periods)
    return {
      grain,
      form: 'lines',
      measure: 'share',
      periods: shown.flatMap((position) => cells.periods[position] ?? []),
      totals: shown.map((position) => cells.totals[position] ?? null),
      series: [{ name, paint: 's0', values: shown.map((position) => values[position] ?? null) }],
    }
  }
}

export function drawShare(content: Content | undefined, { name }: Author): Html {
  if (content === undefined) return html``
  const { grain, periods } = content
  return chartFigure({
    id: 'share-chart',
    title: `Share of all tokens per ${grain} of ${name}`,
    description: `A line from ${periods[0]?.start} to ${periods.at(-1)?.start}. The table below has the share of each month.`,
    content,
  })
}
