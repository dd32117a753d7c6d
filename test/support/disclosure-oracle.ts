/** The disclosure rule a second time, as plainly as possible. No code of the pipeline, no SQL. */

export interface Contribution {
  date: string
  model: string
  /** `unknown` and `exempt` are not contributors. */
  contributor: string
  tokens: number
}

export interface Rule {
  min_contributors: number
  p_percent: number
}

export interface Row {
  date: string
  model: string
  tokens: number
}

/** DISCLOSURE.md § A cell is safe when. */
export function isSafe(cell: readonly Contribution[], { min_contributors, p_percent }: Rule): boolean {
  const sums = new Map<string, number>()
  for (const { contributor, tokens } of cell) sums.set(contributor, (sums.get(contributor) ?? 0) + tokens)
  const unknown = sums.get('unknown') ?? 0
  const known = [...sums]
    .filter(([contributor, tokens]) => contributor !== 'unknown' && contributor !== 'exempt' && tokens > 0)
    .map(([, tokens]) => tokens)
    .sort((a, b) => b - a)
  const [largest = 0, second = 0] = known
  const all = known.reduce((sum, tokens) => sum + tokens, unknown)
  if (all === 0) return true
  const first = largest + unknown
  return known.length >= min_contributors && 100 * (all - first - second) >= p_percent * first
}

/** The rows of each date, or none where nothing safe is left. */
export function rankUnderRule(contributions: readonly Contribution[], rule: Rule): Row[] {
  const dates = [...new Set(contributions.map(({ date }) => date))].sort()
  return dates.flatMap((date) =>
    rankDate(
      date,
      contributions.filter((each) => each.date === date),
      rule,
    ),
  )
}

function rankDate(date: string, day: readonly Contribution[], rule: Rule): Row[] {
  const models = [...new Set(day.map(({ model }) => model))]
  const cells = models.map((model) => ({ model, cell: day.filter((each) => each.model === model) }))
  const safe = cells.filter(({ cell }) => total(cell) > 0 && isSafe(cell, rule))
  const named = safe.sort((a, b) => total(b.cell) - total(a.cell) || (a.model < b.model ? -1 : 1)).slice(0, 50)
  for (;;) {
    const rest = day.filter((each) => !named.some(({ model }) => model === each.model))
    if (isSafe(rest, rule)) {
      const rows = named.map(({ model, cell }) => ({ date, model, tokens: total(cell) }))
      return total(rest) === 0 ? rows : [...rows, { date, model: 'other', tokens: total(rest) }]
    }
    if (named.pop() === undefined) return []
  }
}

function total(cell: readonly Contribution[]): number {
  return cell.reduce((sum, { tokens }) => sum + tokens, 0)
}
