import { byCodePoints } from '../../pipeline/contract/code-points.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../../pipeline/contract/ranking.ts'

/** Returns a check of row order (§ Endpoints 5, rules 1, 3 and 4), which returns the problem, if any. */
export function orderCheck(): (row: RankingRow) => string | undefined {
  let previous: RankingRow | undefined
  let slugs = new Set<string>()

  return (row) => {
    if (row.date !== previous?.date) slugs = new Set()
    const problem = wrongPlace(previous, row) ?? wrongSlug(slugs, row)
    previous = row
    slugs.add(row.model_permaslug)
    return problem
  }
}

function wrongPlace(previous: RankingRow | undefined, row: RankingRow): string | undefined {
  if (previous === undefined || row.date > previous.date) return undefined
  if (row.date < previous.date) return `${row.date} stands after ${previous.date}`
  if (previous.model_permaslug === OTHER) return `${row.model_permaslug} stands after ${OTHER} on ${row.date}`
  if (row.model_permaslug === OTHER) return undefined
  const difference = compareTotals(previous, row) || byCodePoints(previous.model_permaslug, row.model_permaslug)
  return difference > 0 ? `${row.model_permaslug} stands after ${previous.model_permaslug} on ${row.date}` : undefined
}

function wrongSlug(slugs: Set<string>, { date, model_permaslug }: RankingRow): string | undefined {
  if (slugs.has(model_permaslug)) return `${model_permaslug} stands twice on ${date}`
  if (model_permaslug !== OTHER && slugs.size >= TOP_MODELS) return `${date} names more than ${TOP_MODELS} models`
  return undefined
}

/** Descending. Digits without leading zeros compare by length, then as text. */
function compareTotals(a: RankingRow, b: RankingRow): number {
  const [x, y] = [a.total_tokens, b.total_tokens]
  return y.length - x.length || Number(y > x) - Number(y < x)
}
