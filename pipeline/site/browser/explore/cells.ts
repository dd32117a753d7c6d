import { daysBetween, endOf, type Grain, startOf } from './calendar.ts'
import type { Row } from './row.ts'
import type { Window } from './window.ts'

export interface Period {
  /** Its first date. */
  start: string
  /** `2026-11-19`, the Monday for a week, `2026-11` for a month. */
  name: string
  length: number
  days: number
  /** True if the numbers of a week or month may still change. */
  isProvisional: boolean
}

/** The rows of a window as a table: periods across, models down. */
export interface Cells {
  periods: readonly Period[]
  models: ReadonlyMap<string, readonly (bigint | null)[]>
  totals: readonly (bigint | null)[]
}

/**
 * Places the rows of a table by period and model. `rows` are in published order, dated by the first date of their period.
 * `window` is made of whole periods, but for those that the release cuts. Weeks and months from `provisionalFrom` on may
 * change.
 */
export function cellsOf(rows: readonly Row[], window: Window, grain: Grain, provisionalFrom?: string): Cells {
  const periods = periodsOf(window, grain, provisionalFrom)
  const positions = new Map(periods.map(({ start }, position) => [start, position]))
  const empty = () => new Array<bigint | null>(periods.length).fill(null)
  const models = new Map<string, (bigint | null)[]>()
  const totals = empty()
  for (const { date, model_permaslug, total_tokens, days } of rows) {
    const position = positions.get(date)
    const period = position === undefined ? undefined : periods[position]
    if (position === undefined || period === undefined) continue
    period.days = days ?? 1
    const values = models.get(model_permaslug) ?? empty()
    models.set(model_permaslug, values)
    values[position] = total_tokens
    totals[position] = (totals[position] ?? 0n) + total_tokens
  }
  return { periods, models, totals }
}

/** True if days have no numbers. */
export function isPartial({ days, length }: Period): boolean {
  return days < length
}

/** True for a week or month that is not whole or may still change. */
export function isMarked(period: Period): boolean {
  return period.length > 1 && (isPartial(period) || period.isProvisional)
}

function periodsOf({ from, to }: Window, grain: Grain, provisionalFrom: string | undefined): Period[] {
  const periods: Period[] = []
  for (let start = startOf(from, grain); start <= to; ) {
    const next = endOf(start, grain)
    const name = grain === 'month' ? start.slice(0, 7) : start
    const isProvisional = provisionalFrom !== undefined && start >= provisionalFrom
    periods.push({ start, name, length: daysBetween(start, next), days: 0, isProvisional })
    start = next
  }
  return periods
}
