import { scaleLinear, scaleLog } from 'd3-scale'
import { formatTicks } from '../../base/numbers.ts'
import { type Grain, instantOf, MILLISECONDS_PER_DAY, tickName } from './calendar.ts'
import type { Period } from './cells.ts'

export interface Tick {
  position: number
  text: string
}

/** The positions of ticks among `count` periods, the first of which starts at `start`. */
type Step = { isMonth?: true; positions: (count: number, start: string) => number[] }

function everyFrom(first: number, gap: number, count: number): number[] {
  const positions: number[] = []
  for (let position = first; position < count; position += gap) positions.push(position)
  return positions
}

const every = (gap: number): Step => ({ positions: (count) => everyFrom(0, gap, count) })

/** 1970-01-05 was a Monday. */
const MONDAY = 4
const everyMonday = (gap: number): Step => ({
  positions: (count, start) => everyFrom((((MONDAY - dayNumber(start)) % gap) + gap) % gap, gap, count),
})

/** The first days of each month, of each second one and so on, counted from January. */
const everyMonths = (gap: number): Step => ({
  isMonth: true,
  positions(count, start) {
    const [first, year, month] = [dayNumber(start), Number(start.slice(0, 4)), Number(start.slice(5, 7)) - 1]
    const days: number[] = []
    for (let next = Math.floor(month / gap) * gap; ; next += gap) {
      const position = Date.UTC(year, next, 1) / MILLISECONDS_PER_DAY - first
      if (position >= count) return days
      if (position >= 0) days.push(position)
    }
  },
})

const everyNthMonth = (gap: number): Step => ({
  isMonth: true,
  positions: (count, start) => everyFrom((gap - ((Number(start.slice(5, 7)) - 1) % gap)) % gap, gap, count),
})

const MONTHS = [1, 2, 3, 6, 12]

/** From fine to coarse. */
const STEPS: Record<Grain, readonly Step[]> = {
  day: [every(1), every(2), everyMonday(7), everyMonday(14), ...MONTHS.map(everyMonths)],
  week: [1, 2, 4, 8, 13, 26, 52, 104].map(every),
  month: MONTHS.map(everyNthMonth),
}

function dayNumber(date: string): number {
  return instantOf(date) / MILLISECONDS_PER_DAY
}

/** The finest dates of an axis with at most `most` of them. Each stands at a period. */
export function ticksOf(periods: readonly Period[], grain: Grain, most: number): Tick[] {
  const [first] = periods
  if (first === undefined) return []
  for (const { positions, isMonth = false } of STEPS[grain]) {
    const found = positions(periods.length, first.start)
    if (found.length > 1 && found.length <= most) return named(found, periods, isMonth)
  }
  const last = periods.length - 1
  return named(last === 0 ? [0] : [0, last], periods, false)
}

function named(positions: readonly number[], periods: readonly Period[], isMonth: boolean): Tick[] {
  let year = ''
  return positions.map((position) => {
    const { start = '' } = periods[position] ?? {}
    const isNewYear = start.slice(0, 4) !== year
    year = start.slice(0, 4)
    return { position, text: tickName(start, { isMonth, isNewYear }) }
  })
}

export type Measure = 'tokens' | 'share' | 'index' | 'rank' | 'number'

/** How values become heights, and where the axis has lines. */
export interface ValueScale {
  y: (value: number) => number
  ticks: { value: number; text: string }[]
}

const TICKS = 5

/** From zero, or from the least for a log scale, to a round number. Rank 1 is at the top. */
export function valueScale(
  values: readonly number[],
  { measure, isLog, isWhole }: { measure: Measure; isLog: boolean; isWhole: boolean },
  [bottom, top]: readonly [number, number],
): ValueScale {
  const greatest = values.reduce((most, value) => Math.max(most, value), 0)
  if (measure === 'rank') {
    const last = Math.max(10, Math.ceil(greatest / 10) * 10)
    const ranks = last === 10 ? [1, 5, 10] : [1, ...Array.from({ length: last / 10 }, (_, tens) => (tens + 1) * 10)]
    const ticks = ranks.map((value) => ({ value, text: String(value) }))
    return { y: scaleLinear([last, 1], [bottom, top]), ticks }
  }
  if (isLog) {
    const least = values.reduce((low, value) => (value > 0 ? Math.min(low, value) : low), greatest)
    if (least > 0) return logScale(least, greatest, measure, [bottom, top])
  }
  const y = scaleLinear([0, greatest === 0 ? 1 : greatest], [bottom, top])
  if (!isWhole) y.nice(TICKS)
  const ticks = y.ticks(TICKS).filter((tick) => measure !== 'tokens' || Number.isInteger(tick))
  return { y, ticks: withUnits(ticks, measure) }
}

function logScale(least: number, greatest: number, measure: Measure, [bottom, top]: readonly [number, number]) {
  const y = scaleLog([least, greatest > least ? greatest : least * 10], [bottom, top]).nice()
  const all = y.ticks()
  const powers = all.filter((tick) => Number.isInteger(Number(Math.log10(tick).toFixed(9))))
  const every = Math.ceil(powers.length / 6)
  return {
    y,
    ticks: withUnits(
      powers.filter((_, position) => position % every === 0),
      measure,
      true,
    ),
  }
}

function withUnits(ticks: readonly number[], measure: Measure, isLog = false): ValueScale['ticks'] {
  const inUnits = isLog ? ticks.map((tick) => formatTicks([tick])[0] ?? '') : formatTicks(ticks)
  return ticks.map((value, at) => {
    if (measure === 'share') return { value, text: `${Number((value * 100).toFixed(6))} %` }
    return { value, text: inUnits[at] ?? '' }
  })
}
