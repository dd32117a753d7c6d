import { scaleLinear, scaleUtc } from 'd3-scale'
import { toInstant, type UtcDate } from '../../contract/utc-date.ts'
import { formatTicks } from '../numbers.ts'

/** A tick of an axis: where it is, in units of the drawing, and what it says. */
export interface Tick {
  at: number
  text: string
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MILLISECONDS_PER_DAY = 86_400_000
const DATE_TICKS = 5
const TOKEN_TICKS = 4

/** Dates from the left to the right of a plot; a single date stands in the middle. */
export function dateScale(dates: readonly UtcDate[], width: number): { at(position: number): number; ticks: Tick[] } {
  const last = dates.length - 1
  const at = (position: number) => (last < 1 ? width / 2 : (position / last) * width)
  const [first, end] = [dates[0], dates[last]]
  if (first === undefined || end === undefined) return { at, ticks: [] }
  const days = scaleUtc()
    .domain([toInstant(first), toInstant(end)])
    .ticks(DATE_TICKS)
    .map(Number)
    .filter((instant) => instant % MILLISECONDS_PER_DAY === 0)
  const start = toInstant(first).getTime()
  const instants = last < 1 ? [start] : days
  const ticks = instants.map((instant, index) => {
    const isNewYear = index === 0 || year(instant) !== year(instants[index - 1] ?? instant)
    return { at: at((instant - start) / MILLISECONDS_PER_DAY), text: dateText(instant, isNewYear) }
  })
  return { at, ticks }
}

/** Tokens from the bottom of a plot to its top, from zero to a round number above the greatest. */
export function tokenScale(greatest: number, height: number): { at(tokens: number): number; ticks: Tick[] } {
  if (greatest <= 0) return { at: () => height, ticks: [{ at: height, text: '0' }] }
  const scale = scaleLinear().domain([0, greatest]).range([height, 0]).nice(TOKEN_TICKS)
  const values = scale.ticks(TOKEN_TICKS).filter(Number.isInteger)
  const texts = formatTicks(values)
  return { at: scale, ticks: values.map((value, index) => ({ at: scale(value), text: texts[index] ?? '' })) }
}

/** `Nov` for the first of a month, `Nov 15` for another day; with the year where one begins on the axis. */
function dateText(instant: number, withYear: boolean): string {
  const date = new Date(instant)
  const month = MONTHS[date.getUTCMonth()] ?? ''
  const day = date.getUTCDate()
  if (day === 1) return withYear ? `${month} ${year(instant)}` : month
  return withYear ? `${month} ${day}, ${year(instant)}` : `${month} ${day}`
}

function year(instant: number): number {
  return new Date(instant).getUTCFullYear()
}
