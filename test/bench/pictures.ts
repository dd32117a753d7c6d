/** Curves as SVG files, in the colors of the reader's theme. */
import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import { escapeXml } from '../../pipeline/contract/html.ts'
import { type Mark, type Paint, round, textMark } from '../../pipeline/site/chart/marks.ts'
import { type EndLabel, endLabels, LABELS_WIDTH } from '../../pipeline/site/chart/scene.ts'
import { dot } from '../../pipeline/site/chart/shapes.ts'
import { SVG_FONT, svgMarks, THEME_COLORS } from '../../pipeline/site/chart/svg.ts'
import { PAINTS } from '../../pipeline/site/palette.ts'
import type { MeasuredCurve, MeasuredLine } from './curve.ts'
import { lineText } from './report.ts'

export interface Picture {
  id: string
  title: string
  curves: readonly MeasuredCurve[]
}

const [LEFT, TOP, WIDTH, HEIGHT] = [60, 64, 960, 440]
const [RIGHT, BASE] = [WIDTH - LABELS_WIDTH, HEIGHT - 44]
const TICKS = 5

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
  const x = scaleLinear([0, Math.max(...points.map(({ size }) => size))], [LEFT, RIGHT])
  const y = scaleLinear([0, Math.max(...points.map(({ seconds }) => seconds.max))], [BASE, TOP]).nice(TICKS)
  const ends = lines.map(({ name, points: own }, color): EndLabel => {
    const wish = y(own.at(-1)?.seconds.median ?? 0)
    return { name, paint: `s${color}`, wish, y: wish }
  })
  const marks = [
    textMark(12, 26, title, { paint: 'ink', size: 17 }),
    ...axes(x, y, curves[0]?.size ?? ''),
    ...lines.flatMap((one, color) => drawLine(one, `s${color}`, x, y)),
    ...endLabels(ends, { right: RIGHT, top: TOP, bottom: BASE }),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" ${SVG_FONT} role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${escapeXml(title)}</title>
<desc id="${id}-desc">${escapeXml(describe(curves))}</desc>
<style>:root{${variables('light')}}@media (prefers-color-scheme:dark){:root{${variables('dark')}}}</style>
<rect width="${WIDTH}" height="${HEIGHT}" fill="var(--ground)"/>
${svgMarks(marks, THEME_COLORS)}</svg>
`
}

/** The line of medians; bars from the least to the greatest of the rounds. Baselines are dashed. */
function drawLine({ name, points }: MeasuredLine, paint: Paint, x: Scale, y: Scale): Mark[] {
  const path = line<MeasuredLine['points'][number]>(
    ({ size }) => x(size),
    ({ seconds }) => y(seconds.median),
  ).digits(1)
  const spreads = points.map(
    ({ size, seconds }) => `M${round(x(size))},${round(y(seconds.min))}V${round(y(seconds.max))}`,
  )
  const dots = points.map(({ size, seconds }) => dot(x(size), y(seconds.median)))
  const dash = name.includes('bare') ? '5 4' : ''
  return [
    { kind: 'path', d: path([...points]) ?? '', stroke: paint, width: 2, dash, name },
    { kind: 'path', d: spreads.join(''), stroke: paint, width: 1 },
    { kind: 'path', d: dots.join(''), fill: paint },
  ]
}

type Scale = ReturnType<typeof scaleLinear<number>>

function axes(x: Scale, y: Scale, size: string): Mark[] {
  const horizontal = y.ticks(TICKS).flatMap((value): Mark[] => {
    const at = round(y(value))
    return [
      { kind: 'path', d: `M${LEFT},${at}H${RIGHT}`, stroke: 'rule', width: 1 },
      textMark(LEFT - 8, at + 4, String(value), { anchor: 'end' }),
    ]
  })
  const vertical = x.ticks(TICKS).flatMap((value): Mark[] => {
    const at = round(x(value))
    return [
      { kind: 'path', d: `M${at},${BASE}v5`, stroke: 'rule', width: 1 },
      textMark(at, BASE + 18, String(value), { anchor: 'middle' }),
    ]
  })
  const names = [textMark(LEFT, TOP - 14, 'seconds of CPU'), textMark(RIGHT, HEIGHT - 8, size, { anchor: 'end' })]
  return [...names, ...horizontal, ...vertical]
}

function describe(curves: readonly MeasuredCurve[]): string {
  const lines = curves.flatMap(({ lines, oneOfSize }) =>
    lines.map((one) => `${one.name}: ${lineText(one, oneOfSize)}.`),
  )
  return `Straight lines through the medians. ${lines.join(' ')}`
}

function variables(theme: 'light' | 'dark'): string {
  return Object.entries(PAINTS)
    .map(([paint, shade]) => `--${paint}:${shade[theme]};`)
    .join('')
}
