import type { UtcDate } from '../../contract/utc-date.ts'
import { type Html, html } from '../html.ts'
import { INK, LINE, QUIET, type Shade, seriesClass, seriesShade } from '../palette.ts'
import { shorten, shortNames, spread } from './labels.ts'
import { dateScale, tokenScale } from './scales.ts'

/**
 * The measures of a drawing, in units that are pixels on a wide screen. On a narrow one the stylesheet makes the text
 * larger and cuts the column of labels off, in whose place the legend comes.
 */
export const WIDTH = 960
export const HEIGHT = 400
const LABELS_WIDTH = 216
const PLOT = { left: 60, top: 34, bottom: HEIGHT - 36 }
const TEXT_SIZE = 13
const LABEL_GAP = 17
/** So many Latin characters fit into the column, however wide the letters of the machine's font are. */
const LABEL_CHARACTERS = 26

/** A name at the right end of what it names. */
export interface EndLabel {
  name: string
  color: number | 'rest'
  y: number
}

/** Where the values of a chart are drawn. */
export interface Frame {
  x(position: number): number
  y(tokens: number): number
  /** The line that stands for zero. */
  base: number
  /** How far two dates are apart; a lone date gets a bar as wide. */
  step: number
  axes: Html
}

/** The scales and axes of a chart; `labelled` leaves room for names at the right. */
export function frameOf(dates: readonly UtcDate[], greatest: number, labelled: boolean): Frame {
  const width = WIDTH - PLOT.left - (labelled ? LABELS_WIDTH : 12)
  const height = PLOT.bottom - PLOT.top
  const horizontal = dateScale(dates, width)
  const vertical = tokenScale(greatest, height)
  const right = PLOT.left + width
  const grid = vertical.ticks.map(({ at, text }) => {
    const y = round(PLOT.top + at)
    return html`<path d="M${PLOT.left},${y}H${right}" class="grid" stroke="${LINE.light}"/><text x="${PLOT.left - 8}" y="${round(y + 4.5)}" text-anchor="end">${text}</text>\n`
  })
  const days = horizontal.ticks.map(({ at, text }) => {
    const x = round(PLOT.left + at)
    const anchor = at < 40 && horizontal.ticks.length > 1 ? 'start' : at > width - 40 ? 'end' : 'middle'
    return html`<path d="M${x},${PLOT.bottom}v5" class="grid" stroke="${LINE.light}"/><text x="${x}" y="${HEIGHT - 9}" text-anchor="${anchor}">${text}</text>\n`
  })
  return {
    x: (position) => PLOT.left + horizontal.at(position),
    y: (tokens) => PLOT.top + vertical.at(tokens),
    base: PLOT.bottom,
    step: width / Math.max(dates.length, 1),
    axes: html`<g class="axes" fill="${QUIET.light}" font-family="system-ui,sans-serif" font-size="${TEXT_SIZE}">
<text x="${PLOT.left}" y="18">Tokens per day</text>
${grid}${days}</g>
`,
  }
}

/** Names beside the right end of the plot, moved apart; undefined where there are too many. */
export function endLabels(labels: readonly EndLabel[]): Html | undefined {
  const placed = spread(labels, { gap: LABEL_GAP, top: PLOT.top - 4, bottom: PLOT.bottom })
  if (placed === undefined) return undefined
  const wanted = new Map(labels.map(({ color, y }) => [color, y]))
  const from = WIDTH - LABELS_WIDTH + 3
  const names = shortNames(placed.map(({ name }) => name))
  const rows = placed.map(({ name, color, y }, position) => {
    const leader = `M${from},${round(wanted.get(color) ?? y)}L${from + 12},${round(y)}h5`
    return html`${colored(color, html`<path d="${leader}" fill="none" stroke="currentColor" stroke-width="1.5"/>`)}<text x="${from + 21}" y="${round(y + 4.5)}">${shorten(names[position] ?? name, LABEL_CHARACTERS)}</text>\n`
  })
  return html`<g class="labels" fill="${INK.light}" font-family="system-ui,sans-serif" font-size="${TEXT_SIZE}">
${rows}</g>
`
}

/** Shapes in the colour of a series: the class follows the reader's theme, the attribute serves where no stylesheet is. */
export function colored(color: number | 'rest', shapes: Html): Html {
  const { light }: Shade = seriesShade(color)
  return html`<g class="${seriesClass(color)}" color="${light}">${shapes}</g>`
}

/** To a tenth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 10) / 10
}
