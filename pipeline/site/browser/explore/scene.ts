import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import { formatTicks } from '../../../base/numbers.ts'
import { shorten, shortNames, spread } from '../../chart/labels.ts'
import { instantOf } from './calendar.ts'
import { type Cells, isMarked } from './cells.ts'
import { MOST_SERIES, type Series } from './series.ts'
import { ticksOf } from './ticks.ts'
import type { View } from './view.ts'

export type Paint = 'ink' | 'quiet' | 'rule' | 'ground' | 'rest' | 'other' | `s${number}`

export type Mark =
  | { kind: 'path'; d: string; fill?: Paint; stroke?: Paint; width?: number; dash?: string }
  | { kind: 'text'; x: number; y: number; text: string; anchor: 'start' | 'middle' | 'end'; paint: Paint }

export interface Scene {
  width: number
  height: number
  marks: Mark[]
  columns: number[]
  top: number
  bottom: number
}

export const FONT_SIZE = 12
const LINE_HEIGHT = 15
const CHARACTER_WIDTH = 7
const NARROW = 640
const LABEL_WIDTH = 216
const MARGIN = { top: 12, right: 14, bottom: 26, left: 52 }
const DASHES = ['', '7 3', '2 3']

export interface ChartInput extends Pick<View, 'as' | 'by' | 'show'> {
  cells: Cells
  series: readonly Series[]
  width: number
  height: number
}

/** Null is a gap. Inexact, for drawing only. */
type Value = number | null

/** Draws stacked areas or lines of tokens or shares. Equal inputs give equal scenes. */
export function drawChart(input: ChartInput): Scene {
  const { cells, series, width, height, show, as } = input
  const right = width < NARROW ? MARGIN.right : LABEL_WIDTH
  const values = series.map(({ values }) => values.map((value, i) => toValue(value, cells.totals[i] ?? null, show)))
  const bands =
    as === 'stacked' ? stack(values, cells) : values.map((line) => line.map((value) => ({ low: value, high: value })))
  const greatest = Math.max(0, ...bands.flatMap((band) => band.map(({ high }) => high ?? 0)))
  const y = scaleLinear([0, greatest === 0 ? 1 : greatest], [height - MARGIN.bottom, MARGIN.top])
  if (!(show === 'share' && as === 'stacked')) y.nice(5)
  const instants = cells.periods.map(({ start }) => instantOf(start))
  const x = scaleLinear([instants.at(0) ?? 0, instants.at(-1) ?? 0], [MARGIN.left, width - right])
  const columns = instants.map((instant) => round(x(instant)))
  const frame = { columns, y, left: MARGIN.left, right: width - right }
  const marks = [
    ...yAxis(frame, show),
    ...xAxis(input, frame),
    ...bands.flatMap((band, i) =>
      as === 'stacked' ? areaMarks(band, paintOf(series, i), frame) : lineMarks(band, i, series, frame),
    ),
    ...partialMarks(cells, frame),
    ...(width < NARROW ? [] : labelMarks(bands, series, frame)),
  ]
  return { width, height, marks, columns, top: MARGIN.top, bottom: height - MARGIN.bottom }
}

/** Models by position; `rest` and `other` in gray. */
export function paintOf(series: readonly Series[], position: number): Paint {
  const kind = series[position]?.kind
  return kind === 'rest' || kind === 'other' ? kind : `s${position % MOST_SERIES}`
}

interface Frame {
  columns: readonly number[]
  y: (value: number) => number
  left: number
  right: number
}

type Band = { low: Value; high: Value }[]

function toValue(tokens: bigint | null, total: bigint | null, show: View['show']): Value {
  if (tokens === null || total === null) return null
  if (show === 'tokens') return Number(tokens)
  return total === 0n ? 0 : Number(tokens) / Number(total)
}

/** A period without rows is a gap in all series; a single missing value adds nothing. */
function stack(values: readonly Value[][], { totals }: Cells): Band[] {
  const tops = totals.map(() => 0)
  return values.map((line) =>
    line.map((value, i) => {
      if ((totals[i] ?? null) === null) return { low: null, high: null }
      const low = tops[i] ?? 0
      tops[i] = low + (value ?? 0)
      return { low, high: tops[i] ?? 0 }
    }),
  )
}

function areaMarks(band: Band, paint: Paint, frame: Frame): Mark[] {
  const edges = runsOf(band).map((run) => outline(run, frame))
  return [{ kind: 'path', d: edges.join(''), fill: paint, stroke: 'ground', width: 0.6 }]
}

function runsOf(band: Band): { at: number; low: number; high: number }[][] {
  const runs: { at: number; low: number; high: number }[][] = []
  let last = Number.NaN
  for (const [at, { low, high }] of band.entries()) {
    if (low === null || high === null) continue
    if (last !== at - 1) runs.push([])
    runs.at(-1)?.push({ at, low, high })
    last = at
  }
  return runs
}

/** A single point would have no width, so it becomes a bar. */
function outline(run: { at: number; low: number; high: number }[], { columns, y }: Frame): string {
  const points = run.map(({ at, low, high }) => ({ x: columns[at] ?? 0, low: y(low), high: y(high) }))
  const [only] = points
  const wide =
    only !== undefined && points.length === 1
      ? [
          { ...only, x: only.x - 4 },
          { ...only, x: only.x + 4 },
        ]
      : points
  const draw = area<(typeof points)[number]>(
    (p) => p.x,
    (p) => p.low,
    (p) => p.high,
  ).digits(1)
  return draw(wide) ?? ''
}

function lineMarks(band: Band, position: number, series: readonly Series[], { columns, y }: Frame): Mark[] {
  const paint = paintOf(series, position)
  const dash =
    DASHES[series[position]?.kind === 'model' ? Math.floor((position * DASHES.length) / MOST_SERIES) : 2] ?? ''
  const draw = line<{ at: number; high: number }>(
    ({ at }) => columns[at] ?? 0,
    ({ high }) => y(high),
  ).digits(1)
  const runs = runsOf(band)
  const d = runs.filter((run) => run.length > 1).map((run) => draw(run) ?? '')
  const dots = runs
    .filter((run) => run.length === 1)
    .map(([only]) => dot(columns[only?.at ?? 0] ?? 0, y(only?.high ?? 0)))
  return [
    ...(d.length > 0 ? [{ kind: 'path', d: d.join(''), stroke: paint, width: 1.8, dash } as const] : []),
    ...(dots.length > 0 ? [{ kind: 'path', d: dots.join(''), fill: paint } as const] : []),
  ]
}

function dot(x: number, y: number): string {
  return `M${round(x - 2.5)},${round(y)}a2.5,2.5,0,1,0,5,0a2.5,2.5,0,1,0,-5,0Z`
}

function yAxis({ y, left, right }: Frame, show: View['show']): Mark[] {
  const scale = y as ReturnType<typeof scaleLinear<number>>
  const ticks = scale.ticks(5).filter((tick) => show === 'share' || Number.isInteger(tick))
  const names = show === 'share' ? ticks.map((tick) => `${Number((tick * 100).toFixed(6))} %`) : formatTicks(ticks)
  return ticks.flatMap((tick, i): Mark[] => {
    const at = round(y(tick))
    const text = names[i] ?? ''
    return [
      { kind: 'path', d: `M${left},${at}H${right}`, stroke: 'rule', width: 1 },
      { kind: 'text', x: left - 8, y: at + 4, text, anchor: 'end', paint: 'quiet' },
    ]
  })
}

const TICK_WIDTH = 90
const HALF_TICK = 28

function xAxis({ cells, by, width, height }: ChartInput, { columns, left, right }: Frame): Mark[] {
  const ticks = ticksOf(cells.periods, by, Math.max(2, Math.floor((right - left) / TICK_WIDTH)))
  return ticks.map(({ position, text }): Mark => {
    const x = Math.min(Math.max(columns[position] ?? 0, HALF_TICK), width - HALF_TICK)
    return { kind: 'text', x, y: height - 8, text, anchor: 'middle', paint: 'quiet' }
  })
}

function partialMarks({ periods }: Cells, { columns }: Frame): Mark[] {
  return periods.flatMap((period, i): Mark[] => {
    if (!isMarked(period) || period.days === 0) return []
    return [{ kind: 'text', x: columns[i] ?? 0, y: MARGIN.top - 1, text: '∗', anchor: 'middle', paint: 'ink' }]
  })
}

function labelMarks(bands: readonly Band[], series: readonly Series[], { y, right, columns }: Frame): Mark[] {
  const names = shortNames(series.map(({ name }) => name))
  const wishes = bands.map((band, i) => {
    const end = band.findLast(({ high }) => high !== null)
    const wish = y(((end?.low ?? 0) + (end?.high ?? 0)) / 2)
    return { name: names[i] ?? '', paint: paintOf(series, i), wish, y: wish }
  })
  // Areas of zero height keep the first series at the bottom.
  const placed = spread(wishes.toReversed(), { gap: LINE_HEIGHT, top: MARGIN.top + FONT_SIZE / 2, bottom: y(0) })
  const end = Math.max(columns.at(-1) ?? right, right)
  const longest = Math.floor((LABEL_WIDTH - 34) / CHARACTER_WIDTH)
  return (placed ?? []).flatMap(({ name, paint, wish, y }): Mark[] => {
    const [from, to] = [round(wish), round(y)]
    return [
      { kind: 'path', d: `M${end + 3},${from}L${end + 14},${to}`, stroke: paint, width: 1 },
      { kind: 'path', d: `M${end + 16},${to - 4}h8v8h-8Z`, fill: paint },
      { kind: 'text', x: end + 29, y: to + 4, text: shorten(name, longest), anchor: 'start', paint: 'ink' },
    ]
  })
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
