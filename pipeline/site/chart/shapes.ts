import { area } from 'd3-shape'
import { type Mark, type Paint, round } from './marks.ts'

/** A value to draw; null is a gap. Inexact, for drawing only. */
export type Value = number | null

/** Where things stand, in pixels. */
export interface Frame {
  columns: readonly number[]
  /** From one period to the next. */
  step: number
  y: (value: number) => number
  top: number
  bottom: number
}

interface Point {
  x: number
  y: number
}

const OUTLINE = { stroke: 'ground', width: 0.75 } as const
/** Where steps are narrower, outlines would cover the colors. */
const LEAST_STEP_WITH_OUTLINE = 3
const BAR_SHARE = 0.82
const WIDEST_BAR = 48
/** A date alone between gaps. */
const WIDEST_ALONE = 10
const DOT_RADIUS = 2.5

/** From the upper edges down to the base: layers that are drawn later cover the lower part. Single points are bars. */
export function areaMark(tops: readonly Value[], paint: Paint, name: string, frame: Frame): Mark {
  const { columns, y, bottom, step } = frame
  const draw = area<Value>(
    (_, at) => columns[at] ?? 0,
    bottom,
    (top) => y(top ?? 0),
  )
    .defined((top) => top !== null)
    .digits(1)
  const lone = tops.flatMap((top, at) =>
    top !== null && isLone(tops, at) ? [bar(columns[at] ?? 0, y(top), frame, WIDEST_ALONE)] : [],
  )
  const runs = tops.map((top, at) => (isLone(tops, at) ? null : top))
  const d = (draw(runs) ?? '') + lone.join('')
  return { kind: 'path', d, fill: paint, name, ...(step >= LEAST_STEP_WITH_OUTLINE && OUTLINE) }
}

/** A bar for each period, from the upper edge down to the base. */
export function barMark(tops: readonly Value[], paint: Paint, name: string, frame: Frame): Mark {
  const bars = tops.flatMap((top, at) => (top === null ? [] : [bar(frame.columns[at] ?? 0, frame.y(top), frame)]))
  const isOutlined = frame.step >= LEAST_STEP_WITH_OUTLINE
  return { kind: 'path', d: bars.join(''), fill: paint, name, ...(isOutlined && OUTLINE) }
}

function bar(middle: number, top: number, { bottom, step, columns }: Frame, widest = WIDEST_BAR): string {
  const width = Math.min(barWidth(step), columns.length === 1 ? WIDEST_BAR : widest)
  return `M${round(middle - width / 2)},${bottom}V${round(top)}h${round(width)}V${bottom}Z`
}

function barWidth(step: number): number {
  return Math.min(step * BAR_SHARE, WIDEST_BAR)
}

/** A line with gaps where values are null, and dots where a value stands alone. */
export function lineMarks(
  values: readonly Value[],
  { paint, name, dash }: { paint: Paint; name: string; dash: string },
  { columns, y }: Frame,
): Mark[] {
  // Model pages have hundreds of lines with a hundred points each, so one text is made of each.
  let d = ''
  values.forEach((value, at) => {
    if (value === null || isLone(values, at)) return
    d += `${(values[at - 1] ?? null) === null ? 'M' : 'L'}${columns[at] ?? 0},${round(y(value))}`
  })
  const dots = values.flatMap((value, at) =>
    value !== null && isLone(values, at) ? [dot(columns[at] ?? 0, y(value))] : [],
  )
  return [
    ...(d === '' ? [] : [{ kind: 'path', d, stroke: paint, width: 1.8, dash, name } as const]),
    ...(dots.length === 0 ? [] : [{ kind: 'path', d: dots.join(''), fill: paint, name } as const]),
  ]
}

export function dot(x: number, y: number, radius = DOT_RADIUS): string {
  return `M${round(x - radius)},${round(y)}a${radius},${radius},0,1,0,${2 * radius},0a${radius},${radius},0,1,0,${-2 * radius},0Z`
}

function isLone(values: readonly Value[], at: number): boolean {
  return values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null
}

const HATCH_STEP = 6
const HATCH_WIDTH = 1.4

/** Diagonal lines over what is drawn of some periods: over bars one by one, over areas below their upper edge. */
export function hatchMark(
  tops: readonly Value[],
  isHatched: readonly boolean[],
  isBars: boolean,
  paint: Paint,
  frame: Frame,
): Mark[] {
  if (!isHatched.includes(true)) return []
  const isBar = tops.map((_, at) => isHatched[at] === true && (isBars || isLone(tops, at)))
  const areas = isBars ? [] : areaShapes(tops, isHatched, frame)
  const shapes = [...areas, ...barShapes(tops, isBar, frame)]
  const d = shapes.flatMap((edge) => diagonals(edge, frame.bottom)).join('')
  return d === '' ? [] : [{ kind: 'path', d, stroke: paint, width: HATCH_WIDTH }]
}

function barShapes(tops: readonly Value[], isHatched: readonly boolean[], { columns, step, y }: Frame): Point[][] {
  const half = barWidth(step) / 2
  return tops.flatMap((top, at) => {
    if (top === null || !isHatched[at]) return []
    const [x, height] = [columns[at] ?? 0, y(top)]
    return [
      [
        { x: x - half, y: height },
        { x: x + half, y: height },
      ],
    ]
  })
}

/** The upper edge from half a step before the first hatched period of each run. */
function areaShapes(tops: readonly Value[], isHatched: readonly boolean[], { columns, y }: Frame): Point[][] {
  const shapes: Point[][] = []
  tops.forEach((top, at) => {
    if (top === null || !isHatched[at]) return
    const point = { x: columns[at] ?? 0, y: y(top) }
    const before = tops[at - 1] ?? null
    const isNext = isHatched[at - 1] === true && before !== null
    if (isNext) shapes.at(-1)?.push(point)
    else if (before === null) shapes.push([point])
    else {
      const previous = { x: columns[at - 1] ?? 0, y: y(before) }
      shapes.push([{ x: (previous.x + point.x) / 2, y: (previous.y + point.y) / 2 }, point])
    }
  })
  return shapes.filter((edge) => edge.length > 1)
}

/** The parts of rising diagonals that lie between an edge and the base. */
function diagonals(edge: readonly Point[], bottom: number): string[] {
  const [left, right] = [edge[0]?.x ?? 0, edge.at(-1)?.x ?? 0]
  const highest = edge.reduce((top, point) => Math.min(top, point.y), bottom)
  const parts: string[] = []
  const first = Math.ceil((left - (bottom - highest)) / HATCH_STEP) * HATCH_STEP
  for (let foot = first; foot < right; foot += HATCH_STEP) {
    for (const [from, to] of below(edge, foot, bottom))
      parts.push(`M${round(from)},${round(bottom - (from - foot))}L${round(to)},${round(bottom - (to - foot))}`)
  }
  return parts
}

/** Where the diagonal that leaves the base at `foot` is below the edge, as runs of x. */
function below(edge: readonly Point[], foot: number, bottom: number): [from: number, to: number][] {
  const runs: [number, number][] = []
  for (const [at, end] of edge.entries()) {
    const start = edge[at - 1]
    if (start === undefined || end.x <= foot || end.x === start.x) continue
    const slope = (end.y - start.y) / (end.x - start.x)
    // How far the diagonal is below the edge, which is linear in x.
    const depth = (x: number) => bottom - (x - foot) - (start.y + slope * (x - start.x))
    const [from, to] = [Math.max(start.x, foot), end.x]
    const [a, b] = [depth(from), depth(to)]
    if (a <= 0 && b <= 0) continue
    const crossing = from + (a / (a - b)) * (to - from)
    const run: [number, number] = [a < 0 ? crossing : from, b < 0 ? crossing : to]
    const previous = runs.at(-1)
    if (previous !== undefined && Math.abs(previous[1] - run[0]) < 0.05) previous[1] = run[1]
    else runs.push(run)
  }
  return runs
}
