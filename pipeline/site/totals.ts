import { OTHER, type RankingRow } from '../contract/ranking.ts'
import type { SiteFacts } from './facts.ts'

type Told = Pick<SiteFacts, 'rows' | 'models' | 'coverage'>

/** All tokens of each month. */
export function tokensByMonth({ coverage }: Pick<SiteFacts, 'coverage'>): Map<string, bigint> {
  const months = new Map<string, bigint>()
  for (const { date, total_tokens } of coverage.days) {
    const month = date.slice(0, 7)
    months.set(month, (months.get(month) ?? 0n) + BigInt(total_tokens))
  }
  return months
}

/** The sums of all daily rows: one row for each model, and the last for `other` if there is any. */
export function allTimeRows({ models, coverage, rows }: Told): RankingRow[] {
  const date = rows[0]?.date ?? ''
  const named = models.map(({ model_permaslug, total_tokens }) => ({ date, model_permaslug, total_tokens }))
  const all = coverage.days.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)
  const other = named.reduce((rest, { total_tokens }) => rest - BigInt(total_tokens), all)
  const hasOther = rows.some(({ model_permaslug }) => model_permaslug === OTHER)
  return hasOther ? [...named, { date, model_permaslug: OTHER, total_tokens: String(other) }] : named
}
