import type { Cells } from './cells.ts'
import { compareSlugs, OTHER } from './row.ts'

/** More lines are hard to tell apart. */
export const MOST_SERIES = 10

export interface Series {
  /** `rest` sums named models that are not drawn; `other` is the row of that name. */
  kind: 'model' | 'rest' | 'other'
  name: string
  values: readonly (bigint | null)[]
}

export const REST_NAME = 'rest: not drawn here'
export const OTHER_NAME = 'other: below top 50'

/** The chosen models, or the ten largest, then the rest if wanted. */
export function chooseSeries(cells: Cells, chosen: readonly string[], withRest: boolean): Series[] {
  const candidates = chosen.length > 0 ? chosen : namedModels(cells)
  const drawn = largest(cells, candidates).slice(0, MOST_SERIES)
  const none = cells.totals.map(() => null)
  const series = drawn.map((slug): Series => ({ kind: 'model', name: slug, values: cells.models.get(slug) ?? none }))
  return withRest ? [...series, ...remainder(cells, new Set(drawn))] : series
}

export function namedModels({ models }: Cells): string[] {
  return [...models.keys()].filter((slug) => slug !== OTHER)
}

function largest(cells: Cells, slugs: readonly string[]): string[] {
  const totals = new Map(slugs.map((slug) => [slug, sumOf(cells.models.get(slug) ?? [])]))
  return slugs.toSorted((a, b) => compareTokens(totals.get(b) ?? 0n, totals.get(a) ?? 0n) || compareSlugs(a, b))
}

function remainder(cells: Cells, drawn: ReadonlySet<string>): Series[] {
  const others = namedModels(cells).filter((slug) => !drawn.has(slug))
  const rest = cells.totals.map((total, position) =>
    total === null ? null : sumOf(others.map((slug) => cells.models.get(slug)?.[position] ?? null)),
  )
  const other = cells.models.get(OTHER)
  return [
    ...(others.length > 0 ? [{ kind: 'rest', name: REST_NAME, values: rest } as const] : []),
    ...(other !== undefined ? [{ kind: 'other', name: OTHER_NAME, values: other } as const] : []),
  ]
}

export function sumOf(values: readonly (bigint | null)[]): bigint {
  return values.reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n)
}

export function compareTokens(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b)
}
