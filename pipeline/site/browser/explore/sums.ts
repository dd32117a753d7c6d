import { daysBetween, endOf, type Grain, startOf } from './calendar.ts'
import type { Row } from './row.ts'
import type { Window } from './window.ts'

export interface Period {
  /** Its first date, even if the window begins later. */
  start: string
  /** `2026-11-19`, the Monday for a week, `2026-11` for a month. */
  name: string
  length: number
  days: number
}

export interface Sums {
  periods: readonly Period[]
  models: ReadonlyMap<string, readonly (bigint | null)[]>
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

/** True if days are outside the window or have no numbers. */
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
