import { compareSlugs, OTHER } from './row.ts'
import type { Sums } from './sums.ts'

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
export function chooseSeries(sums: Sums, chosen: readonly string[], withRest: boolean): Series[] {
  const candidates = chosen.length > 0 ? chosen : namedModels(sums)
  const drawn = largest(sums, candidates).slice(0, MOST_SERIES)
  const none = sums.totals.map(() => null)
  const series = drawn.map((slug): Series => ({ kind: 'model', name: slug, values: sums.models.get(slug) ?? none }))
  return withRest ? [...series, ...remainder(sums, new Set(drawn))] : series
}

export function namedModels({ models }: Sums): string[] {
  return [...models.keys()].filter((slug) => slug !== OTHER)
}

function largest(sums: Sums, slugs: readonly string[]): string[] {
  const totals = new Map(slugs.map((slug) => [slug, sumOf(sums.models.get(slug) ?? [])]))
  return slugs.toSorted((a, b) => compareTokens(totals.get(b) ?? 0n, totals.get(a) ?? 0n) || compareSlugs(a, b))
}

function remainder(sums: Sums, drawn: ReadonlySet<string>): Series[] {
  const others = namedModels(sums).filter((slug) => !drawn.has(slug))
  const rest = sums.totals.map((total, position) =>
    total === null ? null : sumOf(others.map((slug) => sums.models.get(slug)?.[position] ?? null)),
  )
  const other = sums.models.get(OTHER)
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
