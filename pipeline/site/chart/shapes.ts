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

function bar(middle: number, top: number, frame: Frame, widest = WIDEST_BAR): string {
  const width = barWidth(frame, widest)
  const { bottom } = frame
  return `M${round(middle - width / 2)},${bottom}V${round(top)}h${round(width)}V${bottom}Z`
}

function barWidth({ step, columns }: Frame, widest: number): number {
  return Math.min(step * BAR_SHARE, columns.length === 1 ? WIDEST_BAR : widest)
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

/** Diagonal lines over periods: over bars one by one, over areas from half a step before a run to the highest of its values. */
export function hatchMark(
  tops: readonly Value[],
  isHatched: readonly boolean[],
  isBars: boolean,
  paint: Paint,
  frame: Frame,
): Mark[] {
  const { columns, y, bottom } = frame
  const boxes: { left: number; right: number; top: number }[] = []
  for (const [at, top] of tops.entries()) {
    if (top === null || !isHatched[at]) continue
    const middle = columns[at] ?? 0
    const isBar = isBars || isLone(tops, at)
    const half = (isBar ? barWidth(frame, isBars ? WIDEST_BAR : WIDEST_ALONE) : frame.step) / 2
    const left = isBar ? middle - half : Math.max(middle - half, columns[0] ?? 0)
    const right = isBar ? middle + half : Math.min(middle + half, columns.at(-1) ?? 0)
    const before = boxes.at(-1)
    if (isBar || before === undefined || left - before.right > 1) boxes.push({ left, right, top: y(top) })
    else Object.assign(before, { right, top: Math.min(before.top, y(top)) })
  }
  const d = boxes.flatMap((box) => diagonals(box, bottom)).join('')
  return d === '' ? [] : [{ kind: 'path', d, stroke: paint, width: HATCH_WIDTH }]
}

/** The parts of rising parallels that lie in a rectangle. */
function diagonals({ left, right, top }: { left: number; right: number; top: number }, bottom: number): string[] {
  const parts: string[] = []
  const height = bottom - top
  for (let foot = Math.ceil((left - height) / HATCH_STEP) * HATCH_STEP; foot < right; foot += HATCH_STEP) {
    const [from, to] = [Math.max(foot, left), Math.min(foot + height, right)]
    if (to > from)
      parts.push(`M${round(from)},${round(bottom - from + foot)}L${round(to)},${round(bottom - to + foot)}`)
  }
  return parts
}
