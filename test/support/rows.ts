/** Rows of a release by hand. */
import { OTHER, type RankingRow } from '../../pipeline/contract/ranking.ts'
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
