import { scaleLinear, scaleLog } from 'd3-scale'
import { formatTicks } from '../../base/numbers.ts'
import { type Grain, instantOf, tickName } from './calendar.ts'
import type { Period } from './cells.ts'

export interface Tick {
  position: number
  text: string
}

interface Step {
  has: (date: Date, position: number) => boolean
  months?: true
}

const isFirst = (date: Date) => date.getUTCDate() === 1
const every = (count: number): Step => ({ has: (_, position) => position % count === 0 })
const everyMonths = (count: number): Step => {
  return { has: (date) => isFirst(date) && date.getUTCMonth() % count === 0, months: true }
}

/** From fine to coarse. Weeks count from the first; days use every first or second Monday. */
const STEPS: Record<Grain, readonly Step[]> = {
  day: [
    every(1),
    every(2),
    { has: (date) => date.getUTCDay() === 1 },
    { has: (date) => date.getUTCDay() === 1 && Math.floor(date.getTime() / 604_800_000) % 2 === 0 },
    ...[1, 2, 3, 6, 12].map(everyMonths),
  ],
  week: [1, 2, 4, 8, 13, 26, 52, 104].map(every),
  month: [1, 2, 3, 6, 12].map(everyMonths),
}

/** The finest dates of an axis with at most `most` of them. Each stands at a period. */
export function ticksOf(periods: readonly Period[], grain: Grain, most: number): Tick[] {
  const dates = periods.map(({ start }) => new Date(instantOf(start)))
  const choices = STEPS[grain].map((step) => {
    const positions = dates.flatMap((date, position) => (step.has(date, position) ? [position] : []))
    return { step, positions }
  })
  const { step, positions } = choices.find((choice) => choice.positions.length <= most) ?? choices.at(-1) ?? NONE
  return positions.map((position) => {
    const instant = dates[position]?.getTime() ?? 0
    return { position, text: tickName(instant, step.months === true) }
  })
}

const NONE = { step: every(1), positions: [] }

export type Measure = 'tokens' | 'share' | 'index' | 'rank'

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
  return { y, ticks: named(ticks, measure) }
}

function logScale(least: number, greatest: number, measure: Measure, [bottom, top]: readonly [number, number]) {
  const y = scaleLog([least, greatest > least ? greatest : least * 10], [bottom, top]).nice()
  const all = y.ticks()
  const powers = all.filter((tick) => Number.isInteger(Number(Math.log10(tick).toFixed(9))))
  const every = Math.ceil(powers.length / 6)
  return {
    y,
    ticks: named(
      powers.filter((_, position) => position % every === 0),
      measure,
      true,
    ),
  }
}

function named(ticks: readonly number[], measure: Measure, isLog = false): ValueScale['ticks'] {
  const inUnits = isLog ? ticks.map((tick) => formatTicks([tick])[0] ?? '') : formatTicks(ticks)
  return ticks.map((value, at) => {
    if (measure === 'share') return { value, text: `${Number((value * 100).toFixed(6))} %` }
    return { value, text: inUnits[at] ?? '' }
  })
}
