import type { Cells } from './cells.ts'
import type { Paint } from './marks.ts'
import { compareSlugs, compareTokens, OTHER, sumOf } from './rows.ts'

/** More areas or lines are hard to tell apart. */
export const MOST_SERIES = 8

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

/**
 * A color for each drawn name, from 0 to 7. The eight largest of the dataset always have a color of their own, so a name
 * keeps its color when others come and go. A smaller name takes another one only if a larger name needs it.
 *
 * @param drawn at most eight names
 * @param order all names, the largest of the dataset first
 * @param kept the colors of the chart before this one
 */
export function assignColors(
  drawn: readonly string[],
  order: readonly string[],
  kept: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const places = new Map(order.map((name, place) => [name, place]))
  const placeOf = (name: string) => places.get(name) ?? order.length
  const colors = new Map<string, number>()
  const taken = new Set<number>()
  const take = (name: string, color: number) => {
    colors.set(name, color)
    taken.add(color)
  }
  for (const name of drawn) {
    const color = kept.get(name)
    if (color !== undefined && !taken.has(color)) take(name, color)
  }
  for (const name of drawn.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    if (colors.has(name)) continue
    let color = placeOf(name) % MOST_SERIES
    while (taken.has(color) && taken.size < MOST_SERIES) color = (color + 1) % MOST_SERIES
    take(name, color)
  }
  return colors
}
