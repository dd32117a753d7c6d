import type { Grain, Window } from './calendar.ts'
import { type CellOptions, cellsOf, describePeriod, isPartial, isUnfinished, type Period } from './cells.ts'
import { shortenAll, spread, widthOf } from './labels.ts'
import { type Mark, type Note, type Paint, round, type Scene, textMark } from './marks.ts'
import type { ChartRow } from './rows.ts'
import { chooseSeries, type Series, type SeriesOptions } from './series.ts'
import { areaMark, barMark, dot, type Frame, hatchMark, lineMarks, type Value } from './shapes.ts'
import { type Measure, ticksOf, type ValueScale, valueScale } from './ticks.ts'

/** What a chart shows. Equal contents give equal scenes. */
export interface Content {
  grain: Grain
  periods: readonly Period[]
  /** The first is at the bottom. */
  series: readonly Series[]
  /** The whole of each period, of which shares are parts. */
  totals: readonly (bigint | null)[]
  form: 'stacked' | 'lines'
  measure: Measure
  /** Lines alone. */
  isLog?: boolean
  /** What is drawn if it is not tokens, and by what its values were multiplied to be whole. */
  column?: { name: string; factor: number }
}

export interface ContentOptions extends CellOptions, SeriesOptions {
  window: Window
  grain: Grain
  form: Content['form']
  measure: Content['measure']
}

/** A chart of the rows of one table: the largest names, or the chosen ones, and the rest. */
export function contentOf(
  rows: readonly ChartRow[],
  { window, grain, form, measure, ...more }: ContentOptions,
): Content {
  const cells = cellsOf(rows, window, grain, more)
  return { grain, form, measure, periods: cells.periods, totals: cells.totals, series: chooseSeries(cells, more) }
}

const NARROW = 640
const LABELS_WIDTH = 250
const LABEL_CHARACTERS = 32
const LINE_HEIGHT = 16
const MARGIN = { top: 30, right: 12, bottom: 30, left: 44 }
const CHARACTER_WIDTH = 6.8
const TICK_WIDTH = 96
const PARTIAL_NAMED = 6

/** Draws a chart into a rectangle. Wide ones have the names of the series at their right. */
export function drawScene(content: Content, { width, height }: { width: number; height: number }): Scene {
  const { series, measure, form, isLog = false } = content
  const isLabelled = width >= NARROW && series.length > 1
  const values = series.map((one) => drawnValues(one, content))
  const tops = form === 'stacked' ? stack(values, content.totals) : values
  const [top, bottom] = [MARGIN.top, height - MARGIN.bottom]
  const isWhole = measure === 'share' && form === 'stacked'
  const scale = valueScale(
    tops.flat().filter((value) => value !== null),
    { measure, isLog: isLog && form === 'lines', isWhole },
    [bottom, top],
  )
  const left = Math.max(MARGIN.left, Math.max(...scale.ticks.map(({ text }) => widthOf(text))) * CHARACTER_WIDTH + 12)
  const right = width - (isLabelled ? LABELS_WIDTH : MARGIN.right)
  const frame = { ...placeColumns(content, left, right), y: scale.y, top, bottom }
  const labels = isLabelled ? labelMarks(tops, content, frame, right) : []
  const marks = [
    textMark(left, 16, unitOf(content)),
    ...valueAxis(scale, left, right),
    ...dateAxis(content, frame, { left, right, width, height }),
    ...shapeMarks(tops, content, frame),
    { kind: 'path', d: `M${round(left)},${bottom}H${right}`, stroke: 'quiet', width: 1 } as const,
    ...restatedMarks(content, frame),
    ...labels,
  ]
  const { columns } = frame
  return { width, height, marks, columns, top, bottom, isLabelled: labels.length > 0, notes: notesOn(content) }
}

export function isBars({ form, grain }: Pick<Content, 'form' | 'grain'>): boolean {
  return form === 'stacked' && grain !== 'day'
}

/** Points reach from edge to edge; bars have a step each. */
function placeColumns(content: Content, left: number, right: number): Pick<Frame, 'columns' | 'step'> {
  const count = content.periods.length
  const isSteps = isBars(content) || count === 1
  const step = (right - left) / Math.max(1, isSteps ? count : count - 1)
  return { step, columns: content.periods.map((_, at) => round(left + (at + (isSteps ? 0.5 : 0)) * step)) }
}

function drawnValues({ values }: Series, { totals, measure, isLog = false, form, column }: Content): Value[] {
  const first = Number(values.find((value) => value !== null && value > 0n) ?? 0n)
  return values.map((value, at) => {
    if (value === null) return null
    const number = Number(value) / (column?.factor ?? 1)
    if (isLog && form === 'lines' && number <= 0) return null
    if (measure === 'share') return fractionOf(number, Number(totals[at] ?? 0n))
    return measure === 'index' ? (first === 0 ? null : (number / first) * 100) : number
  })
}

function fractionOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** Upper edges. A period without rows is a gap in all series; a single missing value adds nothing. */
function stack(values: readonly Value[][], totals: readonly (bigint | null)[]): Value[][] {
  const sums = totals.map(() => 0)
  return values.map((line) =>
    line.map((value, at) => {
      if ((totals[at] ?? null) === null) return null
      sums[at] = (sums[at] ?? 0) + (value ?? 0)
      return sums[at] ?? 0
    }),
  )
}

function shapeMarks(tops: readonly Value[][], content: Content, frame: Frame): Mark[] {
  const { series, periods, form } = content
  const unfinished = periods.map(isUnfinished)
  if (form === 'lines') {
    const ceiling = periods.map(({ days }) => (days > 0 ? frame.top : null))
    const hatched = hatchMark(ceiling, unfinished, false, 'rule', { ...frame, y: (value) => value })
    const lines = series.map(({ paint, name }, at) => {
      return lineMarks(tops[at] ?? [], { paint, name, dash: dashOf(paint) }, frame)
    })
    return [...hatched, ...lines.reverse().flat()]
  }
  const draw = isBars(content) ? barMark : areaMark
  const layers = series.map(({ paint, name }, at) => draw(tops[at] ?? [], paint, name, frame))
  return [...layers.reverse(), ...hatchMark(tops.at(-1) ?? [], unfinished, isBars(content), 'ground', frame)]
}

const DASHES = ['', '7 3', '2 3']

/** Lines differ in their dashes, too, for print and for eyes that see few colors. */
function dashOf(paint: string): string {
  const color = Number(paint.slice(1))
  return DASHES[Number.isNaN(color) ? 2 : Math.floor(color / 3)] ?? ''
}

export const UNIT = { day: 'per day', week: 'per week', month: 'per month' } as const

function unitOf({ measure, grain, isLog = false, form, column }: Content): string {
  if (column !== undefined) return column.name
  const log = isLog && form === 'lines' ? ', log scale' : ''
  if (measure === 'rank') return 'Rank'
  if (measure === 'index') return `Tokens ${UNIT[grain]}, first value = 100${log}`
  return `${measure === 'share' ? 'Share of all tokens' : 'Tokens'} ${UNIT[grain]}${log}`
}

function valueAxis({ y, ticks }: ValueScale, left: number, right: number): Mark[] {
  return ticks.flatMap(({ value, text }): Mark[] => {
    const at = round(y(value))
    return [
      { kind: 'path', d: `M${round(left)},${at}H${right}`, stroke: 'rule', width: 1 },
      textMark(round(left - 8), at + 4, text, { anchor: 'end' }),
    ]
  })
}

function dateAxis(
  { periods, grain }: Content,
  { columns, bottom }: Frame,
  { left, right, width, height }: { left: number; right: number; width: number; height: number },
): Mark[] {
  const ticks = ticksOf(periods, grain, Math.max(2, Math.floor((right - left) / TICK_WIDTH)))
  return ticks.flatMap(({ position, text }): Mark[] => {
    const at = columns[position] ?? 0
    const half = (widthOf(text) * CHARACTER_WIDTH) / 2
    const x = Math.min(Math.max(at, half), width - half)
    return [
      { kind: 'path', d: `M${at},${bottom}v5`, stroke: 'rule', width: 1 },
      textMark(round(x), height - 8, text, { anchor: 'middle' }),
    ]
  })
}

/** A dot below each date that was restated. */
function restatedMarks({ periods }: Content, { columns, bottom }: Frame): Mark[] {
  const dots = periods.flatMap(({ isRestated }, at) => (isRestated ? [dot(columns[at] ?? 0, bottom + 5, 2)] : []))
  return dots.length === 0 ? [] : [{ kind: 'path', d: dots.join(''), fill: 'ink' }]
}

function labelMarks(tops: readonly Value[][], { series, form, measure }: Content, frame: Frame, right: number): Mark[] {
  const names = shortenAll(
    series.map(({ name }) => name),
    LABEL_CHARACTERS,
  )
  const wishes = series.map(({ paint }, at) => {
    const last = tops[at]?.findLastIndex((value) => value !== null) ?? -1
    const [high, low] = [tops[at]?.[last] ?? 0, form === 'stacked' ? (tops[at - 1]?.[last] ?? 0) : undefined]
    const wish = frame.y(low === undefined ? Math.max(high, measure === 'rank' ? 1 : 0) : (high + low) / 2)
    return { name: names[at] ?? '', paint, wish, y: wish }
  })
  // Of equal heights the first series is the lowest.
  return endLabels(wishes.toReversed(), { right, top: frame.top - 4, bottom: frame.bottom })
}

/** Where a name wants to stand: beside the last value of its series. */
interface EndLabel {
  name: string
  paint: Paint
  wish: number
  y: number
}

/** Names at the right of a plot, moved apart. None if there is no room for all. */
function endLabels(
  wishes: readonly EndLabel[],
  { right, top, bottom }: { right: number; top: number; bottom: number },
): Mark[] {
  const placed = spread(wishes, { gap: LINE_HEIGHT, top, bottom }) ?? []
  return placed.flatMap(({ name, paint, wish, y }): Mark[] => [
    { kind: 'path', d: `M${right + 3},${round(wish)}L${right + 13},${round(y)}`, stroke: paint, width: 1 },
    { kind: 'path', d: `M${right + 15},${round(y - 4)}h8v8h-8Z`, fill: paint },
    textMark(right + 28, round(y + 4), name, { paint: 'ink' }),
  ])
}

function notesOn({ periods }: Content): Note[] {
  const provisional = periods.filter(({ isProvisional, days }) => isProvisional && days > 0)
  const partial = periods.filter(isPartial)
  const [first] = provisional
  const missing = periods.filter(({ days, length }) => length === 1 && days === 0).length
  return [
    ...(first === undefined ? [] : [hatched(`provisional from ${first.name} on: numbers may still change`)]),
    ...(partial.length === 0 ? [] : [hatched(`not whole: ${listed(partial)}`)]),
    ...(periods.some(({ isRestated }) => isRestated)
      ? [{ sample: 'restated', text: 'restated: changed after it was final' } as const]
      : []),
    ...(missing === 0 ? [] : [{ text: `${missing} ${missing === 1 ? 'date has' : 'dates have'} no data` }]),
  ]
}

function hatched(text: string): Note {
  return { sample: 'hatched', text }
}

function listed(periods: readonly Period[]): string {
  const names = periods.map((period) => describePeriod({ ...period, isProvisional: false, isRestated: false }))
  const more = names.length - PARTIAL_NAMED
  return names.slice(-PARTIAL_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
