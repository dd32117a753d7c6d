import { type Html, html, withoutControls } from '../contract/html.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import {
  colored,
  coordinate,
  type EndLabel,
  endLabels,
  type Frame,
  frameOf,
  HEIGHT,
  LABELLED_WIDTH,
  PLOT_WIDTH,
  provisionalMark,
  round,
} from './chart/frame.ts'
import { shorten } from './chart/labels.ts'
import { GROUND, INK, seriesClass } from './palette.ts'

/** A line or an area. Values are tokens; null is a gap, not zero. */
export interface Series {
  name: string
  values: readonly (bigint | null)[]
  /** True for the sum of all other series; drawn in gray. */
  rest?: boolean
}

export interface Chart {
  id: string
  title: string
  description: string
  dates: readonly UtcDate[]
  /** At most eleven: ten and the rest. The first is at the bottom. */
  series: readonly Series[]
  provisionalFrom?: UtcDate
}

interface Drawing {
  shapes: Html
  labels?: Html | undefined
}

const WIDEST_BAR = 60
const TITLE_HEIGHT = 40
const LEGEND_CHARACTERS = 60

/** Stacked areas. A date is a gap if all series are null; a single null adds nothing. */
export function stackedChart(chart: Chart): Html {
  return inPage(chart, drawStack(chart))
}

/** Tokens per date as lines, with a gap where a value is null. */
export function lineChart(chart: Chart): Html {
  return inPage(chart, drawLines(chart))
}

/** The stacked chart as an SVG file in light colors, with its title. */
export function standaloneChart(chart: Chart): string {
  const { shapes, labels } = drawStack(chart)
  const width = labels === undefined ? PLOT_WIDTH : LABELLED_WIDTH
  const height = HEIGHT + TITLE_HEIGHT
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 ${-TITLE_HEIGHT} ${width} ${height}" ${accessibleName(chart)}
<rect y="${-TITLE_HEIGHT}" width="${width}" height="${height}" fill="${GROUND.light}"/>
<text x="12" y="-14" fill="${INK.light}" font-family="system-ui,sans-serif" font-size="17" font-weight="600">${chart.title}</text>
${shapes}${labels ?? html``}</svg>
`
  return withoutControls(svg.text)
}

function inPage(chart: Chart, { shapes, labels }: Drawing): Html {
  const isLabelled = labels !== undefined
  const width = isLabelled ? LABELLED_WIDTH : PLOT_WIDTH
  const legend = chart.series.length < 2 ? html`` : legendOf(chart, isLabelled)
  return html`<div class="chart${isLabelled ? ' labelled' : ''}">
<svg viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" ${accessibleName(chart)}
${shapes}${labels ?? html``}</svg>
${legend}</div>
`
}

function accessibleName({ id, title, description }: Chart): Html {
  return html`role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${description}</desc>`
}

/** From the top down. Shown only if the drawing has no room for labels. */
function legendOf({ series }: Chart, isLabelled: boolean): Html {
  const items = series.map(
    (one, position) =>
      html`<li class="${seriesClass(colorOf(one, position))}"><span>${shorten(one.name, LEGEND_CHARACTERS)}</span></li>\n`,
  )
  return html`<ul class="legend${isLabelled ? ' spare' : ''}">\n${items.reverse()}</ul>\n`
}

function drawStack({ dates, series, provisionalFrom }: Chart): Drawing {
  const named = dates.map((_, position) => series.some(({ values }) => values[position] != null))
  const tops = stackedSums(series, dates.length)
  const frame = frameOf(dates, greatestOf(tops))
  const runs = runsOf(named, (isNamed) => isNamed)
  const layers = series.map((one, position) => {
    const top = (index: number) => frame.y(Number(tops[position]?.[index] ?? 0n))
    const shapes = runs.map((run) => layer(run, frame, top))
    return colored(
      colorOf(one, position),
      html`<title>${one.name}</title><path d="${shapes.join('')}" ${fillOf(one)}/>`,
    )
  })
  const last = named.lastIndexOf(true)
  const middles = series.map((one, position): EndLabel => {
    const below = position === 0 ? 0n : (tops[position - 1]?.[last] ?? 0n)
    const middle = (Number(below) + Number(tops[position]?.[last] ?? 0n)) / 2
    return { name: one.name, color: colorOf(one, position), y: frame.y(middle) }
  })
  // Each layer reaches down to zero and covers the previous one: half the bytes of areas with two edges.
  const painted = layers.reverse().map((piece) => html`${piece}\n`)
  return {
    shapes: html`${frame.axes}<g class="areas" stroke="${GROUND.light}" stroke-width="0.75">\n${painted}</g>\n${frame.zero}${provisionalMark(frame, dates, provisionalFrom)}`,
    labels: series.length > 1 ? endLabels(middles) : undefined,
  }
}

function drawLines({ dates, series, provisionalFrom }: Chart): Drawing {
  const frame = frameOf(dates, greatestOf(series.map(({ values }) => values)))
  const lines = series.map((one, position) => {
    const y = (index: number) => frame.y(Number(one.values[index] ?? 0n))
    const runs = runsOf(one.values, (value) => value !== null)
    const strokes = runs.filter((run) => run.length > 1).map((run) => polyline(run, frame, y))
    // A line of zero length with round ends is a dot.
    const dots = runs
      .filter((run) => run.length === 1)
      .map(([index = 0]) => `M${round(frame.x(index))},${round(y(index))}h0`)
    const shapes = html`<title>${one.name}</title>${stroke(strokes, 2)}${stroke(dots, 6)}`
    return html`${colored(colorOf(one, position), shapes)}\n`
  })
  const ends = series.map((one, position): EndLabel => {
    const last = one.values.findLast((value) => value !== null) ?? 0n
    return { name: one.name, color: colorOf(one, position), y: frame.y(Number(last)) }
  })
  return {
    shapes: html`${frame.axes}<g class="lines" fill="none" stroke-linecap="round" stroke-linejoin="round">\n${lines.reverse()}</g>\n${frame.zero}${provisionalMark(frame, dates, provisionalFrom)}`,
    labels: series.length > 1 ? endLabels(ends) : undefined,
  }
}

function stroke(paths: readonly string[], width: number): Html {
  return paths.length === 0 ? html`` : html`<path d="${paths.join('')}" stroke="currentColor" stroke-width="${width}"/>`
}

/** The rest is pale with a visible outline: it is often the largest area and says the least. */
function fillOf({ rest = false }: Series): Html {
  return rest ? html`fill="currentColor" fill-opacity="0.35" stroke="currentColor"` : html`fill="currentColor"`
}

function layer(run: readonly number[], frame: Frame, top: (index: number) => number): string {
  const [first = 0] = run
  if (run.length > 1) return `${polyline(run, frame, top)}V${frame.base}H${round(frame.x(first))}Z`
  const width = Math.min(frame.step, WIDEST_BAR)
  return `M${round(frame.x(first) - width / 2)},${frame.base}V${round(top(first))}h${round(width)}V${frame.base}Z`
}

function polyline(run: readonly number[], { x }: Frame, y: (index: number) => number): string {
  return `M${run.map((index) => `${coordinate(x(index))},${coordinate(y(index))}`).join('L')}`
}

function stackedSums(series: readonly Series[], length: number): bigint[][] {
  let below: bigint[] = Array(length).fill(0n)
  return series.map(({ values }) => {
    below = below.map((sum, position) => sum + (values[position] ?? 0n))
    return below
  })
}

function greatestOf(lists: readonly (readonly (bigint | null)[])[]): number {
  let greatest = 0n
  for (const list of lists) for (const value of list) if (value !== null && value > greatest) greatest = value
  return Number(greatest)
}

/** The positions of the values that pass, those that follow each other together. */
function runsOf<Value>(values: readonly Value[], passes: (value: Value) => boolean): number[][] {
  const runs: number[][] = []
  let run: number[] = []
  values.forEach((value, position) => {
    if (!passes(value)) run = []
    else if (run.push(position) === 1) runs.push(run)
  })
  return runs
}

function colorOf({ rest = false }: Series, position: number): number | 'rest' {
  return rest || position >= 10 ? 'rest' : position
}
