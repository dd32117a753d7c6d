import { daysBetween, endOf, type Grain, startOf } from './calendar.ts'
import type { Row } from './row.ts'
import type { Window } from './window.ts'

/** A day, week or month of the window. */
export interface Period {
  /** Its first date, also where the window begins later. */
  start: string
  /** `2026-11-19`, for a week its Monday, `2026-11` for a month. */
  name: string
  /** How many days it has, and of how many of them there are numbers in the window. */
  length: number
  days: number
}

/** What rows sum up to: a value for each period, null where no row says anything of it. */
export interface Sums {
  /** Ascending and without gaps. */
  periods: readonly Period[]
  /** By slug, `other` among them. */
  models: ReadonlyMap<string, readonly (bigint | null)[]>
  /** Of all rows, `other` included: what shares are shares of. */
  totals: readonly (bigint | null)[]
}

/** Sums rows of the window by period and model. `rows` are in published order. */
export function sumRows(rows: readonly Row[], window: Window, grain: Grain): Sums {
  const periods = periodsOf(window, grain)
  const positions = new Map(periods.map(({ start }, position) => [start, position]))
  const empty = () => new Array<bigint | null>(periods.length).fill(null)
  const models = new Map<string, (bigint | null)[]>()
  const totals = empty()
  let [date, position] = ['', 0]
  for (const row of rows) {
    if (row.date < window.from || row.date > window.to) continue
    if (row.date !== date) {
      date = row.date
      position = positions.get(startOf(date, grain)) ?? 0
      const period = periods[position]
      if (period !== undefined) period.days += 1
    }
    const values = models.get(row.model_permaslug) ?? empty()
    models.set(row.model_permaslug, values)
    values[position] = (values[position] ?? 0n) + row.total_tokens
    totals[position] = (totals[position] ?? 0n) + row.total_tokens
  }
  return { periods, models, totals }
}

/** Whether numbers are missing from a period: it reaches over the window's end, or dates of it have none. */
export function isPartial({ days, length }: Period): boolean {
  return days < length
}

function periodsOf({ from, to }: Window, grain: Grain): Period[] {
  const periods: Period[] = []
  for (let start = startOf(from, grain); start <= to; ) {
    const next = endOf(start, grain)
    const name = grain === 'month' ? start.slice(0, 7) : start
    periods.push({ start, name, length: daysBetween(start, next), days: 0 })
    start = next
  }
  return periods
}
