import { byCodePoints } from '../contract/code-points.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import type { ModelNames } from '../raw/registry.ts'

/** A model on one date that names it. */
export interface Appearance {
  date: RankingRow['date']
  tokens: bigint
  /** 1 is the model with the most tokens of the date; equal ones are ranked as they are published. */
  rank: number
}

const NAMELESS: ModelNames = { name: '', author: '', aliases: [] }

/** Where each model stands in the rows, in the order of the dates. `rows` are in published order. */
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

/**
 * A row for each model that the rows name, most tokens first, ties by the code points of the slug. `namesOf` is what the
 * registry knows; without one, as where the release has no registry, names are empty.
 */
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
