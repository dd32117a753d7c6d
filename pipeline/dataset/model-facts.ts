import { byCodePoints } from '../contract/code-points.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import { PERIOD_TABLES, type PeriodRows } from '../contract/tables.ts'
import type { ModelNames } from '../raw/registry.ts'

export interface Appearance {
  date: RankingRow['date']
  tokens: bigint
  /** 1 has the most tokens of the date; ties rank in published order. */
  rank: number
}

const NAMELESS: ModelNames = { name: '', author: '', aliases: [] }

export type Appearances = ReadonlyMap<string, readonly Appearance[]>

const KNOWN = new WeakMap<readonly RankingRow[], Appearances>()

/** Each model's dates, tokens and ranks in a table, by date. `rows` are in published order. Kept with these rows. */
export function appearancesOf(rows: readonly RankingRow[]): Appearances {
  const known = KNOWN.get(rows) ?? appearances(rows)
  KNOWN.set(rows, known)
  return known
}

function appearances(rows: readonly RankingRow[]): Appearances {
  const byModel = new Map<string, Appearance[]>()
  let date: string | undefined
  let rank = 0
  rows.forEach((row) => {
    rank = row.date === date ? rank + 1 : 1
    date = row.date
    if (row.model_permaslug === OTHER) return
    const appearance = { date, tokens: BigInt(row.total_tokens), rank }
    const list = byModel.get(row.model_permaslug)
    if (list === undefined) byModel.set(row.model_permaslug, [appearance])
    else list.push(appearance)
  })
  return byModel
}

/**
 * One row per model that days, weeks or months name, most tokens first, then by the slug's code points. Without `namesOf`,
 * names are empty.
 */
export function modelFacts(
  { rows, periods }: { rows: readonly RankingRow[]; periods: PeriodRows | undefined },
  namesOf: (slug: string) => ModelNames = () => NAMELESS,
): ModelFacts[] {
  const byModel = new Map(appearancesOf(rows))
  for (const slug of namedIn(periods)) if (!byModel.has(slug)) byModel.set(slug, [])
  const models = [...byModel].map(([slug, list]) => ({ slug, list, total: sumOf(list) }))
  models.sort((a, b) => (a.total === b.total ? byCodePoints(a.slug, b.slug) : a.total > b.total ? -1 : 1))
  return models.map(({ slug, list, total }) => {
    const best = list.reduce<Appearance | undefined>(
      (found, each) => (found === undefined || each.rank < found.rank ? each : found),
      undefined,
    )
    return {
      model_permaslug: slug,
      ...namesOf(slug),
      first_date: list[0]?.date ?? '',
      last_date: list.at(-1)?.date ?? '',
      days: list.length,
      best_rank: best?.rank ?? '',
      best_rank_date: best?.date ?? '',
      total_tokens: total.toString(),
    }
  })
}

function namedIn(periods: PeriodRows | undefined): Set<string> {
  const rows = PERIOD_TABLES.flatMap((table) => periods?.[table] ?? [])
  const slugs = new Set(rows.map(({ model_permaslug }) => model_permaslug))
  slugs.delete(OTHER)
  return slugs
}

function sumOf(list: readonly Appearance[]): bigint {
  return list.reduce((sum, { tokens }) => sum + tokens, 0n)
}
