import { counted, formatInteger, formatShare } from '../../base/numbers.ts'
import { type Html, html } from '../../contract/html.ts'
import type { Content } from '../chart/scene.ts'
import { ALL_OTHERS, type Series } from '../chart/series.ts'
import { chartFigure } from '../chart.ts'
import { scrollable } from '../elements.ts'
import { modelPath } from '../model-path.ts'
import { recentChart } from '../recent.ts'

const SPAN_DAYS = 30

export function recentSection(recent: Content): Html {
  const { length } = recent.periods
  return html`<section>
<h2 id="recent">The last ${length === 1 ? 'day' : counted(length, 'day')}</h2>
${chartFigure(recentChart(recent, 'recent-chart'))}<details>
<summary>The chart as a table</summary>
${scrollable('The chart as a table', table(recent))}</details>
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

function table({ periods, series }: Content): Html {
  const spans = spansOf(periods.length)
  const whole = sum(series.flatMap(({ values }) => values))
  const head = spans.map(
    ({ from, to }) =>
      html`<th scope="col" class="number">${counted(to - from, 'day')} to ${periods[to - 1]?.start ?? ''}</th>`,
  )
  return html`<table>
<caption>Tokens of the models in the chart, summed over spans of up to ${SPAN_DAYS} days. On days that do not name a model, its tokens are part of ${ALL_OTHERS}.</caption>
<thead><tr><th scope="col">Model</th>${head}<th scope="col" class="number">Sum</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>
${series.map((one) => row(one, spans, whole))}</tbody>
</table>
`
}

function row({ name, values }: Series, spans: readonly { from: number; to: number }[], whole: bigint): Html {
  const cells = spans.map(({ from, to }) => html`<td class="number">${formatInteger(sum(values.slice(from, to)))}</td>`)
  const total = sum(values)
  const label = name === ALL_OTHERS ? html`${name}` : html`<a href="${modelPath(name)}">${name}</a>`
  return html`<tr><th scope="row">${label}</th>${cells}<td class="number">${formatInteger(total)}</td><td class="number">${formatShare(total, whole)}</td></tr>\n`
}

function sum(values: readonly (bigint | null)[]): bigint {
  return values.reduce<bigint>((total, value) => total + (value ?? 0n), 0n)
}
