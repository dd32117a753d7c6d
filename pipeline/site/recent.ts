import { counted, formatInteger, formatShare } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import { type RankingRow, rowsSince } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import { bySize, sumOf } from './chart/rows.ts'
import { type Content, contentOf } from './chart/scene.ts'
import { ALL_OTHERS } from './chart/series.ts'
import { type Chart, chartFigure } from './chart.ts'
import type { SiteFacts } from './facts.ts'
import { modelPath } from './model-path.ts'
import { table } from './table.ts'

const RECENT_DAYS = 90

interface RecentOptions {
  provisionalFrom?: UtcDate | undefined
  restated?: ReadonlySet<UtcDate> | undefined
  /** All models, the largest of the dataset first; by default of these days. */
  order?: readonly string[]
}

/** The last 90 days at most: the eight models with the most tokens, and all others, which sum to the day. */
export function recentDays(rows: readonly RankingRow[], { order, ...more }: RecentOptions = {}): Content {
  const to = rows.at(-1)?.date ?? ''
  const [first = to] = [rows[0]?.date]
  const from = to === '' || addDays(to, 1 - RECENT_DAYS) < first ? first : addDays(to, 1 - RECENT_DAYS)
  const options = { window: { from, to }, grain: 'day', form: 'stacked', measure: 'tokens', rest: 'joined' } as const
  const recent = rowsSince(rows, from)
  return contentOf(recent, { ...options, order: order ?? bySize(recent), ...more })
}

/** The dates whose numbers changed after they were final. */
export function restatedDates({ restatements }: Pick<SiteFacts, 'restatements'>): Set<UtcDate> {
  return new Set(restatements.flatMap(({ dates }) => dates.map(({ date }) => date)))
}

export function recentChart(content: Content, id: string): Chart {
  const { periods, series } = content
  const named = series.filter(({ name }) => name !== ALL_OTHERS).map(({ name }) => name)
  return {
    id,
    title: `Tokens per day, ${periods[0]?.start} to ${periods.at(-1)?.start}`,
    description:
      `Stacked areas over ${counted(periods.length, 'day')}: the ${counted(named.length, 'model')} with the most tokens in this ` +
      `time, from the bottom up ${named.join(', ')}; above them ${ALL_OTHERS}. A gap is a day without data.`,
    content,
  }
}

const SPAN_DAYS = 30

export function recentSection(recent: Content): Html {
  const { length } = recent.periods
  return html`<section>
<h2 id="recent">The last ${length === 1 ? 'day' : counted(length, 'day')}</h2>
${chartFigure(recentChart(recent, 'recent-chart'))}<details>
<summary>The chart as a table</summary>
${recentTable(recent)}</details>
</section>
`
}

function spansOf(length: number): { from: number; to: number }[] {
  const count = Math.ceil(length / SPAN_DAYS)
  return Array.from({ length: count }, (_, index) => {
    const to = length - (count - 1 - index) * SPAN_DAYS
    return { from: Math.max(0, to - SPAN_DAYS), to }
  })
}

function recentTable({ periods, series }: Content): Html {
  const spans = spansOf(periods.length)
  const whole = sumOf(series.flatMap(({ values }) => values))
  const rows = series.map(({ name, values }) => {
    const total = sumOf(values)
    const label = name === ALL_OTHERS ? html`${name}` : html`<a href="${modelPath(name)}">${name}</a>`
    const sums = spans.map(({ from, to }) => formatInteger(sumOf(values.slice(from, to))))
    return [label, ...sums, formatInteger(total), formatShare(total, whole)]
  })
  const heads = spans.map(({ from, to }) => `${counted(to - from, 'day')} to ${periods[to - 1]?.start ?? ''}`)
  const caption = `Tokens of the models in the chart, summed over spans of up to ${SPAN_DAYS} days. On days that do not name a model, its tokens are part of ${ALL_OTHERS}`
  return table(caption, { words: ['Model'], numbers: [...heads, 'Sum', 'Share'] }, rows)
}
