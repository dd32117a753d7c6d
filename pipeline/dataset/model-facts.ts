import { byCodePoints } from '../contract/code-points.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import type { ModelNames } from '../raw/registry.ts'

export interface Appearance {
  date: RankingRow['date']
  tokens: bigint
  /** 1 has the most tokens of the date; ties rank in published order. */
  rank: number
}

const NAMELESS: ModelNames = { name: '', author: '', aliases: [] }

/** Each model's dates, tokens and ranks, by date. `rows` are in published order. */
export function appearances(rows: readonly RankingRow[]): Map<string, Appearance[]> {
  const byModel = new Map<string, Appearance[]>()
  let date: string | undefined
  let rank = 0
  for (const row of rows) {
    rank = row.date === date ? rank + 1 : 1
    date = row.date
    if (row.model_permaslug === OTHER) continue
    const appearance = { date, tokens: BigInt(row.total_tokens), rank }
    const list = byModel.get(row.model_permaslug)
    if (list === undefined) byModel.set(row.model_permaslug, [appearance])
    else list.push(appearance)
  }
  return byModel
}

/** One row per model, most tokens first, then by the slug's code points. Without `namesOf`, names are empty. */
export function modelFacts(
  rows: readonly RankingRow[],
  namesOf: (slug: string) => ModelNames = () => NAMELESS,
): ModelFacts[] {
  const models = [...appearances(rows)].map(([slug, list]) => ({ slug, list, total: sumOf(list) }))
  models.sort((a, b) => (a.total === b.total ? byCodePoints(a.slug, b.slug) : a.total > b.total ? -1 : 1))
  return models.map(({ slug, list, total }) => {
    const best = list.reduce((found, each) => (each.rank < found.rank ? each : found))
    return {
      model_permaslug: slug,
      ...namesOf(slug),
      first_date: list[0]?.date ?? best.date,
      last_date: list.at(-1)?.date ?? best.date,
      days: list.length,
      best_rank: best.rank,
      best_rank_date: best.date,
      total_tokens: total.toString(),
    }
  })
}

function sumOf(list: readonly Appearance[]): bigint {
  return list.reduce((sum, { tokens }) => sum + tokens, 0n)
}
