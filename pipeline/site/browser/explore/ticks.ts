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

/** The finest ticks with at most `most` of them. Each stands at a period. */
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
