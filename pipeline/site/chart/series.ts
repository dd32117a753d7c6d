import type { Cells } from './cells.ts'
import { assignColors, MOST_SERIES } from './colors.ts'
import type { Paint } from './marks.ts'
import { compareSlugs, compareTokens, OTHER, sumOf } from './rows.ts'

export interface Series {
  name: string
  paint: Paint
  /** Null is a gap and not zero. */
  values: readonly (bigint | null)[]
}

export const REST_NAME = 'rest: not drawn here'
export const OTHER_NAME = 'other: below top 50'
export const ALL_OTHERS = 'all others'

export interface SeriesOptions {
  /** The names to draw; by default the largest of the window. */
  chosen?: readonly string[]
  most?: number
  /** `joined` sums what is not drawn and `other`; `apart` draws them as two series. */
  rest: 'joined' | 'apart' | 'none'
  /** All names of the dataset, the largest first. Colors follow from it. */
  order: readonly string[]
  kept?: ReadonlyMap<string, number>
}

/** The chosen names or the largest, at most eight, most tokens first, and then the rest. */
export function chooseSeries(
  cells: Cells,
  { chosen = [], most = MOST_SERIES, rest, order, kept }: SeriesOptions,
): Series[] {
  const candidates = chosen.length > 0 ? chosen : [...cells.names.keys()].filter((name) => name !== OTHER)
  const drawn = largest(cells, candidates).slice(0, most)
  const colors = assignColors(drawn, order, kept)
  const none = cells.totals.map(() => null)
  const series = drawn.map((name): Series => {
    return { name, paint: `s${colors.get(name) ?? 0}`, values: cells.names.get(name) ?? none }
  })
  return rest === 'none' ? series : [...series, ...remainder(cells, series, rest)]
}

function largest({ names }: Cells, candidates: readonly string[]): string[] {
  const totals = new Map(candidates.map((name) => [name, sumOf(names.get(name) ?? [])]))
  return candidates.toSorted((a, b) => compareTokens(totals.get(b) ?? 0n, totals.get(a) ?? 0n) || compareSlugs(a, b))
}

function remainder({ names, totals }: Cells, drawn: readonly Series[], rest: 'joined' | 'apart'): Series[] {
  const other = names.get(OTHER)
  const known = new Set([OTHER, ...drawn.map(({ name }) => name)])
  const others = [...names.keys()].some((name) => !known.has(name))
  const notDrawn = totals.map((total, at) => {
    if (total === null) return null
    const shown = sumOf(drawn.map(({ values }) => values[at] ?? null))
    return total - shown - (rest === 'apart' ? (other?.[at] ?? 0n) : 0n)
  })
  if (rest === 'joined')
    return others || other !== undefined ? [{ name: ALL_OTHERS, paint: 'rest', values: notDrawn }] : []
  return [
    ...(others ? [{ name: REST_NAME, paint: 'rest', values: notDrawn } as const] : []),
    ...(other !== undefined ? [{ name: OTHER_NAME, paint: 'other', values: other } as const] : []),
  ]
}
