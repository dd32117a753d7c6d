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
  /** Where the bound that is applied lies between p · (2 + p/100) and twice that. Without it, p itself is the bound. */
  share?: number
}

export interface Row {
  date: string
  model: string
  tokens: number
}

/** When a cell is safe (docs/disclosure.md). */
export function isSafe(cell: readonly Contribution[], rule: Rule): boolean {
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
  return known.length >= rule.min_contributors && 100_000 * (all - first - second) >= boundOf(rule) * first
}

/** In thousandths of a percent. */
function boundOf({ p_percent, share }: Rule): number {
  return share === undefined ? 1000 * p_percent : 10 * p_percent * (200 + p_percent) * (1 + share)
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

/** What weeks and months sum of a date: atoms, and the models that have tokens in the last one, `other`. */
export interface DateAtoms {
  date: string
  atoms: Row[]
  hidden: string[]
}

/** The published rows of a date, with each safe model of `other` apart as long as what is left is safe. */
export function splitDate(
  date: string,
  day: readonly Contribution[],
  published: readonly Row[],
  rule: Rule,
): DateAtoms {
  const named = published.filter(({ model }) => model !== 'other')
  const inRest = day.filter((each) => !named.some(({ model }) => model === each.model))
  const cells = [...Map.groupBy(inRest, ({ model }) => model).values()]
  const safe = cells.filter((cell) => total(cell) > 0 && isSafe(cell, rule))
  const bySize = safe.sort((a, b) => total(b) - total(a) || ((a[0]?.model ?? '') < (b[0]?.model ?? '') ? -1 : 1))
  const leftOf = (apart: readonly Contribution[][]) =>
    inRest.filter((each) => !apart.some((cell) => cell.includes(each)))
  while (!isSafe(leftOf(bySize), rule)) bySize.pop()
  const left = leftOf(bySize)
  const split = bySize.map((cell) => ({ date, model: cell[0]?.model ?? '', tokens: total(cell) }))
  const other = total(left) === 0 ? [] : [{ date, model: 'other', tokens: total(left) }]
  const hidden = [...new Set(left.filter(({ tokens }) => tokens > 0).map(({ model }) => model))]
  return { date, atoms: [...named, ...split, ...other], hidden }
}

/** The rows of the periods of some dates: a model that is hidden on one of its dates is not named. */
export function rankPeriods(
  dates: readonly DateAtoms[],
  firstDateOf: (date: string) => string,
): (Row & { days: number })[] {
  const periods = Map.groupBy(
    dates.filter(({ atoms }) => atoms.length > 0),
    ({ date }) => firstDateOf(date),
  )
  return [...periods]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([date, own]) => {
      const sums = new Map<string, number>()
      const hidden = new Set(['other', ...own.flatMap((each) => each.hidden)])
      for (const { model, tokens } of own.flatMap(({ atoms }) => atoms))
        sums.set(model, (sums.get(model) ?? 0) + tokens)
      const models = [...sums].filter(([model]) => !hidden.has(model))
      const named = models.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 50)
      const other =
        [...sums.values()].reduce((sum, tokens) => sum + tokens, 0) - named.reduce((sum, [, n]) => sum + n, 0)
      const rows = other === 0 ? named : [...named, ['other', other] as const]
      return rows.map(([model, tokens]) => ({ date, model, tokens, days: own.length }))
    })
}

function total(cell: readonly Contribution[]): number {
  return cell.reduce((sum, { tokens }) => sum + tokens, 0)
}

/**
 * The share of safe cells in which the second largest contributor, who knows the rule but not the bound that is applied, is
 * certain that the largest has at most p percent more than it has. The attacker knows the interval of the bound.
 */
export function shareBoundedBy(cells: readonly (readonly Contribution[])[], { p_percent }: Rule): number {
  const isBounded = (cell: readonly Contribution[]) => {
    const sums = Map.groupBy(cell, ({ contributor }) => contributor).values()
    const [largest = 0, second = 0] = [...sums].map(total).sort((a, b) => b - a)
    const lowest = (p_percent * (2 + p_percent / 100)) / 100
    return (total(cell) - second) / (1 + lowest) <= largest * (1 + p_percent / 100)
  }
  return cells.filter(isBounded).length / cells.length
}
