/** More areas or lines are hard to tell apart. */
export const MOST_SERIES = 8

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
