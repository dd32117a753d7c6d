/** Rows of a release by hand. */
import { byCodePoints } from '../../pipeline/contract/code-points.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../../pipeline/contract/ranking.ts'
import { firstDateOf, type PeriodRows, type PeriodTable } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'

/** Rows of one date, in the order given: `['2026-11-19', { 'a/b': 5, other: 3 }]`. */
export type Day = readonly [date: string, tokens: Readonly<Record<string, bigint | number>>]

export function rowsOf(days: readonly Day[]): RankingRow[] {
  return days.flatMap(([date, tokens]) =>
    Object.entries(tokens).map(([model_permaslug, count]) => ({ date, model_permaslug, total_tokens: String(count) })),
  )
}

/** As many days as are asked for up to the last, each with as many models, and the rest. */
export function manyRows(days: number, models: number, last = '2026-11-19'): RankingRow[] {
  return rowsOf(
    Array.from({ length: days }, (_, day) => {
      const date = addDays(last, day - days + 1)
      const names = Array.from({ length: models }, (_, rank) => {
        return [`author-${rank % 7}/model-number-${rank}-20260101`, 2_000_000_000_000n / BigInt(rank + 1) + BigInt(day)]
      })
      return [date, Object.fromEntries([...names, [OTHER, 700_000_000_000n]])]
    }),
  )
}

/** The weekly and monthly tables of daily rows that name all models. Each period names the 50 largest. */
export function periodsOf(rows: readonly RankingRow[]): PeriodRows {
  const tableOf = (table: PeriodTable) =>
    [...Map.groupBy(rows, ({ date }) => firstDateOf(table, date))].flatMap(([date, own]) => {
      const sums = new Map<string, bigint>()
      for (const { model_permaslug, total_tokens } of own) {
        sums.set(model_permaslug, (sums.get(model_permaslug) ?? 0n) + BigInt(total_tokens))
      }
      const other = sums.get(OTHER) ?? 0n
      sums.delete(OTHER)
      const models = [...sums].sort(([a, x], [b, y]) => (x === y ? byCodePoints(a, b) : x > y ? -1 : 1))
      const rest = models.slice(TOP_MODELS).reduce((sum, [, tokens]) => sum + tokens, other)
      const named = [...models.slice(0, TOP_MODELS), ...(rest > 0n ? [[OTHER, rest] as const] : [])]
      const days = new Set(own.map((row) => row.date)).size
      return named.map(([model_permaslug, tokens]) => ({ date, model_permaslug, total_tokens: `${tokens}`, days }))
    })
  return { weekly: tableOf('weekly'), monthly: tableOf('monthly') }
}
