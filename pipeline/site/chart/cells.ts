import { daysBetween, endOf, type Grain, startOf, type Window } from './calendar.ts'
import { type ChartRow, OTHER } from './rows.ts'

export interface Period {
  /** Its first date. */
  start: string
  /** `2026-11-19`, the Monday for a week, `2026-11` for a month. */
  name: string
  length: number
  days: number
  /** True if its numbers may still change. */
  isProvisional: boolean
  /** True for a date whose numbers changed after they were final. */
  isRestated: boolean
}

/** The rows of a window as a table: periods across, names down. */
export interface Cells {
  periods: readonly Period[]
  names: ReadonlyMap<string, readonly (bigint | null)[]>
  totals: readonly (bigint | null)[]
}

export interface CellOptions {
  /** From this period on, numbers may change. */
  provisionalFrom?: string | undefined
  restated?: ReadonlySet<string> | undefined
  /** The name that a model counts for, such as its author; by default its slug. `other` keeps its name. */
  nameOf?: ((slug: string) => string) | undefined
}

/**
 * Places the rows of a table by period and name. Rows are dated by the first date of their period. The window is made of
 * whole periods, but for those that the release cuts.
 */
export function cellsOf(
  rows: readonly ChartRow[],
  window: Window,
  grain: Grain,
  { provisionalFrom, restated, nameOf = (slug) => slug }: CellOptions = {},
): Cells {
  const periods = periodsOf(window, grain).map((period): Period => {
    const isProvisional = provisionalFrom !== undefined && period.start >= provisionalFrom
    return { ...period, days: 0, isProvisional, isRestated: restated?.has(period.start) ?? false }
  })
  const positions = new Map(periods.map(({ start }, position) => [start, position]))
  const empty = () => new Array<bigint | null>(periods.length).fill(null)
  const names = new Map<string, (bigint | null)[]>()
  const totals = empty()
  for (const { date, model_permaslug, total_tokens, days = 1 } of rows) {
    const position = positions.get(date)
    const period = position === undefined ? undefined : periods[position]
    if (position === undefined || period === undefined) continue
    period.days = days
    const name = model_permaslug === OTHER ? OTHER : nameOf(model_permaslug)
    const values = names.get(name) ?? empty()
    names.set(name, values)
    const tokens = BigInt(total_tokens)
    values[position] = (values[position] ?? 0n) + tokens
    totals[position] = (totals[position] ?? 0n) + tokens
  }
  return { periods, names, totals }
}

/** A date with data. */
export function wholeDay(date: string): Period {
  return { start: date, name: date, length: 1, days: 1, isProvisional: false, isRestated: false }
}

/** True for a week or month of which some dates have no numbers. */
export function isPartial({ days, length }: Pick<Period, 'days' | 'length'>): boolean {
  return length > 1 && days > 0 && days < length
}

/** True for a period whose sum is not whole, or may still change. It is drawn hatched. */
export function isUnfinished(period: Period): boolean {
  return period.days > 0 && (period.isProvisional || isPartial(period))
}

/** `2026-11 (19 of 30 days, provisional)` */
export function describePeriod(period: Period): string {
  const marks = [
    ...(isPartial(period) ? [`${period.days} of ${period.length} days`] : []),
    ...(period.isProvisional ? ['provisional'] : []),
    ...(period.isRestated ? ['restated'] : []),
  ]
  return marks.length === 0 ? period.name : `${period.name} (${marks.join(', ')})`
}

function periodsOf({ from, to }: Window, grain: Grain): Pick<Period, 'start' | 'name' | 'length'>[] {
  const periods: Pick<Period, 'start' | 'name' | 'length'>[] = []
  for (let start = startOf(from, grain); start <= to; ) {
    const next = endOf(start, grain)
    periods.push({ start, name: grain === 'month' ? start.slice(0, 7) : start, length: daysBetween(start, next) })
    start = next
  }
  return periods
}
