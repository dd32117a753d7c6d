import { scaleLinear } from 'd3-scale'
import { formatTicks } from '../../base/numbers.ts'
import type { UtcDate } from '../../contract/utc-date.ts'

export interface Tick {
  at: number
  text: string
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const WIDEST_DAY = 190
const WIDEST_MONTH = 140
const DAY_STEPS = [1, 2, 7, 14] as const
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60] as const
const SHORT_MONTH = 30
const DECADE = 120
const TOKEN_TICKS = 4

/** Dates from left to right; a single date is centered. */
export function dateScale(dates: readonly UtcDate[], width: number): { at(position: number): number; ticks: Tick[] } {
  const last = dates.length - 1
  const at = (position: number) => (last < 1 ? width / 2 : (position / last) * width)
  const { positions, areMonths } = tickPositions(dates, width)
  const ticks = positions.map((position, index) => {
    const [date = '', before = ''] = [dates[position], dates[positions[index - 1] ?? -1]]
    return { at: at(position), text: dateText(date, { areMonths, withYear: date.slice(0, 4) !== before.slice(0, 4) }) }
  })
  return { at, ticks }
}

/** Tokens from bottom to top, from zero to a round number above `greatest`. */
export function tokenScale(greatest: number, height: number): { at(tokens: number): number; ticks: Tick[] } {
  if (greatest <= 0) return { at: () => height, ticks: [{ at: height, text: '0' }] }
  const scale = scaleLinear().domain([0, greatest]).nice(TOKEN_TICKS)
  const [, top = greatest] = scale.domain()
  const at = (tokens: number) => height * (1 - tokens / top)
  const values = scale.ticks(TOKEN_TICKS).filter(Number.isInteger)
  const texts = formatTicks(values)
  return { at, ticks: values.map((value, index) => ({ at: at(value), text: texts[index] ?? '' })) }
}

/** As many dates as fit: every few days, or firsts of months for long spans. */
function tickPositions(dates: readonly UtcDate[], width: number): { positions: number[]; areMonths: boolean } {
  const days = DAY_STEPS.find((step) => (dates.length - 1) / step <= width / WIDEST_DAY)
  if (days !== undefined)
    return { positions: positionsOf(dates, (_, position) => position % days === 0), areMonths: false }
  const months = MONTH_STEPS.find((step) => (dates.length - 1) / (step * SHORT_MONTH) <= width / WIDEST_MONTH) ?? DECADE
  const isNamed = (date: UtcDate) => date.endsWith('-01') && monthNumber(date) % months === 0
  return { positions: positionsOf(dates, isNamed), areMonths: true }
}

function positionsOf(dates: readonly UtcDate[], passes: (date: UtcDate, position: number) => boolean): number[] {
  const positions: number[] = []
  dates.forEach((date, position) => {
    if (passes(date, position)) positions.push(position)
  })
  return positions
}

function monthNumber(date: UtcDate): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1
}

function dateText(date: UtcDate, { areMonths, withYear }: { areMonths: boolean; withYear: boolean }): string {
  const [year = '', month = '', day = ''] = date.split('-')
  const name = MONTHS[Number(month) - 1] ?? ''
  if (areMonths) return withYear ? `${name} ${year}` : name
  return `${name} ${Number(day)}${withYear ? `, ${year}` : ''}`
}
