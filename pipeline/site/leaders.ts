import { OTHER, type RankingRow } from '../contract/ranking.ts'
import { addDays, daysBetween, type UtcDate } from '../contract/utc-date.ts'
import type { Chart } from './chart.ts'

/** How many models a chart tells apart; all others are the rest. */
const LEADERS = 10

/** Every date from the first to the last. */
export function datesBetween(first: UtcDate, last: UtcDate): UtcDate[] {
  return Array.from({ length: daysBetween(first, last) + 1 }, (_, day) => addDays(first, day))
}

/**
 * The last `days` dates up to `end` as a chart: the models with the most tokens in that time, and the rest, which is
 * everything else. Together they are the tokens of each date; one without rows is a gap. `rows` are in published order.
 */
export function leadersChart(rows: readonly RankingRow[], { end, days }: { end: UtcDate; days: number }): Chart {
  const wanted = addDays(end, 1 - days)
  const first = rows[0]?.date ?? wanted
  const dates = datesBetween(wanted < first ? first : wanted, end)
  const position = new Map(dates.map((date, index) => [date, index]))
  const byModel = new Map<string, bigint[]>()
  const totals: (bigint | null)[] = dates.map(() => null)
  for (const { date, model_permaslug, total_tokens } of rows) {
    const index = position.get(date)
    if (index === undefined) continue
    const tokens = BigInt(total_tokens)
    totals[index] = (totals[index] ?? 0n) + tokens
    const values = byModel.get(model_permaslug) ?? dates.map(() => 0n)
    values[index] = tokens
    byModel.set(model_permaslug, values)
  }
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)
  const leaders = [...byModel]
    .filter(([model]) => model !== OTHER)
    .map(([name, values]) => ({ name, values, total: sum(values) }))
    // Equal ones stay in the order in which they first appear.
    .sort((a, b) => (a.total === b.total ? 0 : a.total > b.total ? -1 : 1))
    .slice(0, LEADERS)
  const restOf = (total: bigint, index: number) => total - sum(leaders.map(({ values }) => values[index] ?? 0n))
  const rest = totals.map((total, index) => (total === null ? null : restOf(total, index)))
  return {
    id: 'leaders',
    title: `Tokens per day, ${dates[0] ?? end} to ${end}`,
    description:
      `Stacked: the ${leaders.length} models with the most tokens in this time, from the bottom up ` +
      `${leaders.map(({ name }) => name).join(', ')}; and the rest on top.`,
    dates,
    series: [
      ...leaders.map(({ name, values }) => ({
        name,
        values: values.map((value, index) => (totals[index] === null ? null : value)),
      })),
      { name: 'all others', values: rest, rest: true },
    ],
  }
}
