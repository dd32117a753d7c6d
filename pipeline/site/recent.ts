import { counted } from '../base/numbers.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { OTHER, type RankingRow, rowsSince } from '../contract/ranking.ts'
import { addDays, daysBetween, type UtcDate } from '../contract/utc-date.ts'
import type { Chart, Series } from './chart.ts'

export const RECENT_DAYS = 90
const NAMED_MODELS = 10
export const REST_NAME = 'all others'

export interface Recent {
  dates: UtcDate[]
  /** Most tokens first, ties by code points, the rest last. Null if the date has no such row. */
  series: Series[]
}

/** The last 90 days at most. The rest is `other` plus the smaller models, so the series sum to the day. */
export function recentDays(rows: readonly RankingRow[]): Recent {
  const dates = windowOf(rows)
  const position = new Map(dates.map((date, index) => [date, index]))
  const sums = new Map<string, bigint>()
  const recent = rowsSince(rows, dates[0] ?? '')
  for (const { model_permaslug: slug, total_tokens } of recent) {
    if (slug !== OTHER) sums.set(slug, (sums.get(slug) ?? 0n) + BigInt(total_tokens))
  }
  const named = [...sums].sort(byTokens).slice(0, NAMED_MODELS)
  const series = new Map(named.map(([name]) => [name, emptyValues(dates)]))
  const rest = emptyValues(dates)
  for (const { date, model_permaslug: slug, total_tokens } of recent) {
    const values = series.get(slug) ?? rest
    const index = position.get(date) ?? 0
    values[index] = (values[index] ?? 0n) + BigInt(total_tokens)
  }
  const models = [...series].map(([name, values]) => ({ name, values }))
  const hasRest = rest.some((value) => value !== null)
  return { dates, series: hasRest ? [...models, { name: REST_NAME, values: rest, rest: true }] : models }
}

export function recentChart({ dates, series }: Recent, id: string, provisionalFrom?: UtcDate): Chart {
  const named = series.filter(({ rest = false }) => !rest).map(({ name }) => name)
  const [first, last] = [dates[0], dates.at(-1)]
  return {
    id,
    title: `Tokens per day, ${first} to ${last}`,
    description:
      `Stacked areas over ${counted(dates.length, 'day')}: the ${counted(named.length, 'model')} with the most tokens in this ` +
      `time, from the bottom up ${named.join(', ')}; above them ${REST_NAME}. A gap is a day without data.`,
    dates,
    series,
    ...(provisionalFrom !== undefined && { provisionalFrom }),
  }
}

function windowOf(rows: readonly RankingRow[]): UtcDate[] {
  const [first, last] = [rows[0]?.date, rows.at(-1)?.date]
  if (first === undefined || last === undefined) return []
  const days = Math.min(daysBetween(first, last) + 1, RECENT_DAYS)
  return Array.from({ length: days }, (_, index) => addDays(last, index - days + 1))
}

function emptyValues(dates: readonly UtcDate[]): (bigint | null)[] {
  return dates.map(() => null)
}

function byTokens([slugA, a]: [string, bigint], [slugB, b]: [string, bigint]): number {
  if (a !== b) return a > b ? -1 : 1
  return byCodePoints(slugA, slugB)
}
