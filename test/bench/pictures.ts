/** Curves as SVG files, in the colors of the reader's theme. */
import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import { type Html, html } from '../../pipeline/contract/html.ts'
import {
  colored,
  type EndLabel,
  endLabels,
  HEIGHT,
  LABELLED_WIDTH,
  PLOT_WIDTH,
  round,
} from '../../pipeline/site/chart/frame.ts'
import { GROUND, INK, LINE, QUIET, SERIES, seriesClass } from '../../pipeline/site/palette.ts'
import type { MeasuredCurve, MeasuredLine } from './curve.ts'
import { lineText } from './report.ts'

export interface Picture {
  id: string
  title: string
  curves: readonly MeasuredCurve[]
}

const [LEFT, TOP, BASE, TITLE_HEIGHT] = [60, 34, HEIGHT - 44, 40]
const TICKS = 5
const FONT = html`font-family="system-ui,sans-serif"`

/** One picture for curves over records and one for those over days, where there are any. */
export function picturesOf(curves: readonly MeasuredCurve[]): Picture[] {
  const over = (size: string) => curves.filter((curve) => curve.size === size)
  const pictures: Picture[] = [
    { id: 'cpu-by-records', title: 'CPU time of a full build, by records', curves: over('million records') },
    { id: 'cpu-by-days', title: 'CPU time of a build, by days of history', curves: over('days') },
  ]
  return pictures.filter((picture) => picture.curves.length > 0)
}

/** A picture of lines, with title and description for those who do not see it. */
export function draw({ id, title, curves }: Picture): string {
  const lines = curves.flatMap((curve) => curve.lines)
  const points = lines.flatMap((one) => one.points)
  const x = scaleLinear()
    .domain([0, Math.max(...points.map(({ size }) => size))])
    .range([LEFT, PLOT_WIDTH])
  const greatest = Math.max(...points.map(({ seconds }) => seconds.max))
  const y = scaleLinear().domain([0, greatest]).range([BASE, TOP]).nice(TICKS)
  const ends = lines.map((one, color): EndLabel => {
    return { name: one.name, color, y: y(one.points.at(-1)?.seconds.median ?? 0) }
  })
  const height = HEIGHT + TITLE_HEIGHT
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${LABELLED_WIDTH}" height="${height}" viewBox="0 ${-TITLE_HEIGHT} ${LABELLED_WIDTH} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${describe(curves)}</desc>
<style>${darkStyle()}</style>
<rect class="ground" y="${-TITLE_HEIGHT}" width="${LABELLED_WIDTH}" height="${height}" fill="${GROUND.light}"/>
<text class="ink" x="12" y="-14" fill="${INK.light}" ${FONT} font-size="17" font-weight="600">${title}</text>
${axes(x, y, curves[0]?.size ?? '')}<g fill="none" stroke="currentColor">
${lines.map((one, color) => drawLine(one, color, x, y))}</g>
${endLabels(ends) ?? html``}</svg>
`.text
}

/** The line of medians; bars from the least to the greatest of the rounds. Baselines are dashed. */
function drawLine({ name, points }: MeasuredLine, color: number, x: Scale, y: Scale): Html {
  const path = line<MeasuredLine['points'][number]>(
    ({ size }) => x(size),
    ({ seconds }) => y(seconds.median),
  ).digits(1)
  const spreads = points.map(
    ({ size, seconds }) => `M${round(x(size))},${round(y(seconds.min))}V${round(y(seconds.max))}`,
  )
  const dots = points.map(({ size, seconds }) => `M${round(x(size))},${round(y(seconds.median))}h0`)
  const dashes = name.includes('bare') ? html` stroke-dasharray="5 4"` : html``
  const shapes = html`<title>${name}</title><path d="${path([...points]) ?? ''}" stroke-width="2"${dashes}/><path d="${spreads.join('')}" stroke-width="1"/><path d="${dots.join('')}" stroke-width="6" stroke-linecap="round"/>`
  return html`${colored(color, shapes)}\n`
}

type Scale = ReturnType<typeof scaleLinear<number>>

function axes(x: Scale, y: Scale, size: string): Html {
  const horizontal = y.ticks(TICKS).map((value) => {
    const at = round(y(value))
    return html`<path d="M${LEFT},${at}H${PLOT_WIDTH}" class="grid" stroke="${LINE.light}"/><text x="${LEFT - 8}" y="${at + 4.5}" text-anchor="end">${value}</text>\n`
  })
  const vertical = x.ticks(TICKS).map((value) => {
    const at = round(x(value))
    return html`<path d="M${at},${BASE}v5" class="grid" stroke="${LINE.light}"/><text x="${at}" y="${BASE + 18}" text-anchor="middle">${value}</text>\n`
  })
  return html`<g class="axes" fill="${QUIET.light}" ${FONT} font-size="13">
<text x="${LEFT}" y="18">seconds of CPU</text>
<text x="${PLOT_WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${size}</text>
${horizontal}${vertical}</g>
`
}

function describe(curves: readonly MeasuredCurve[]): string {
  const lines = curves.flatMap(({ lines, oneOfSize }) =>
    lines.map((one) => `${one.name}: ${lineText(one, oneOfSize)}.`),
  )
  return `Straight lines through the medians. ${lines.join(' ')}`
}

/** Attributes are the light theme. */
function darkStyle(): Html {
  const series = SERIES.map(({ dark }, position) => `.${seriesClass(position)}{color:${dark}}`)
  const rules = [
    `.ground{fill:${GROUND.dark}}.ink,.labels{fill:${INK.dark}}.axes{fill:${QUIET.dark}}.grid{stroke:${LINE.dark}}`,
    ...series,
  ]
  return html`@media (prefers-color-scheme:dark){${rules.join('')}}`
}
