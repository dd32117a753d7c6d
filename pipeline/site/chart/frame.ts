import { type Html, html } from '../../contract/html.ts'
import type { UtcDate } from '../../contract/utc-date.ts'
import { INK, LINE, QUIET, type Shade, seriesClass, seriesShade } from '../palette.ts'
import { shorten, shortNames, spread } from './labels.ts'
import { dateScale, tokenScale } from './scales.ts'

/** Pixels on a wide screen. On a narrow one text is larger and the legend replaces labels. */
export const HEIGHT = 400
export const PLOT_WIDTH = 744
const LABELS_WIDTH = 216
export const LABELLED_WIDTH = PLOT_WIDTH + LABELS_WIDTH
const TOP = 34
const BASE = HEIGHT - 36
const TEXT_SIZE = 13
const LABEL_SIZE = 12.5
const WIDEST_DIGIT = 13
const LEAST_LEFT = 60
const LABEL_GAP = 17
const EDGE = 70
/** Latin characters that fit into the column in any font. */
const LABEL_CHARACTERS = 27

export interface EndLabel {
  name: string
  color: number | 'rest'
  y: number
}

export interface Frame {
  x(position: number): number
  y(tokens: number): number
  base: number
  step: number
  axes: Html
  zero: Html
}

export function frameOf(dates: readonly UtcDate[], greatest: number): Frame {
  const vertical = tokenScale(greatest, BASE - TOP)
  const longest = Math.max(...vertical.ticks.map(({ text }) => text.length))
  const left = Math.max(LEAST_LEFT, longest * WIDEST_DIGIT + 8)
  const width = PLOT_WIDTH - left
  const horizontal = dateScale(dates, width)
  const grid = vertical.ticks.map(({ at, text }) => {
    const y = round(TOP + at)
    return html`<path d="M${left},${y}H${PLOT_WIDTH}" class="grid" stroke="${LINE.light}"/><text x="${left - 8}" y="${round(y + 4.5)}" text-anchor="end">${text}</text>\n`
  })
  const days = horizontal.ticks.map(({ at, text }) => {
    const x = round(left + at)
    const anchor = at < EDGE ? 'start' : at > width - EDGE ? 'end' : 'middle'
    return html`<path d="M${x},${BASE}v5" class="grid" stroke="${LINE.light}"/><text x="${x}" y="${HEIGHT - 9}" text-anchor="${anchor}">${text}</text>\n`
  })
  return {
    x: (position) => left + horizontal.at(position),
    y: (tokens) => TOP + vertical.at(tokens),
    base: BASE,
    step: width / Math.max(dates.length, 1),
    axes: html`<g class="axes" fill="${QUIET.light}" font-family="system-ui,sans-serif" font-size="${TEXT_SIZE}">
<text x="${left}" y="18">Tokens per day</text>
${grid}${days}</g>
`,
    zero: html`<path d="M${left},${BASE}H${PLOT_WIDTH}" class="zero" stroke="${QUIET.light}"/>\n`,
  }
}

/** A line before the first provisional date; empty if all dates are of one kind. */
export function provisionalMark(frame: Frame, dates: readonly UtcDate[], from: UtcDate | undefined): Html {
  const first = from === undefined ? -1 : dates.findIndex((date) => date >= from)
  if (first <= 0) return html``
  const x = round((frame.x(first - 1) + frame.x(first)) / 2)
  return html`<g class="axes" fill="${QUIET.light}" font-family="system-ui,sans-serif" font-size="${TEXT_SIZE}"><path d="M${x},${TOP - 8}V${BASE}" class="zero" stroke="${QUIET.light}" stroke-dasharray="2 3"/><text x="${PLOT_WIDTH}" y="18" text-anchor="end">provisional</text></g>\n`
}

/** Names beside the right end of the plot, moved apart; undefined if there are too many. */
export function endLabels(labels: readonly EndLabel[]): Html | undefined {
  const placed = spread(labels, { gap: LABEL_GAP, top: TOP - 4, bottom: BASE })
  if (placed === undefined) return undefined
  const wanted = new Map(labels.map(({ color, y }) => [color, y]))
  const from = PLOT_WIDTH + 3
  const names = shortNames(placed.map(({ name }) => name))
  const rows = placed.map(({ name, color, y }, position) => {
    const leader = `M${from},${round(wanted.get(color) ?? y)}L${from + 12},${round(y)}h5`
    return html`${colored(color, html`<path d="${leader}" fill="none" stroke="currentColor" stroke-width="1.5"/>`)}<text x="${from + 21}" y="${round(y + 4.5)}">${shorten(names[position] ?? name, LABEL_CHARACTERS)}</text>\n`
  })
  return html`<g class="labels" fill="${INK.light}" font-family="system-ui,sans-serif" font-size="${LABEL_SIZE}">
${rows}</g>
`
}

/** The class follows the reader's theme; the attribute works without a stylesheet. */
export function colored(color: number | 'rest', shapes: Html): Html {
  const { light }: Shade = seriesShade(color)
  return html`<g class="${seriesClass(color)}" color="${light}">${shapes}</g>`
}

const COORDINATES: string[] = []

/** A coordinate to a tenth of a pixel, as text. Each text is made once: all charts together have a few thousand. */
export function coordinate(value: number): string {
  const tenths = Math.round(value * 10)
  COORDINATES[tenths] ??= String(tenths / 10)
  return COORDINATES[tenths]
}

/** To a tenth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 10) / 10
}
