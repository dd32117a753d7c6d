/** One row of the release, as its Parquet file has it: the sum of tokens to the last digit. */
export interface Row {
  /** `2026-11-19`, in UTC. Dates compare as text. */
  date: string
  model_permaslug: string
  total_tokens: bigint
}

/** The slug of the row that sums all public models which a date does not name. No model has it. */
export const OTHER = 'other'

/** In which order models with equal tokens stand: by the code points of their slugs, which is not always that of `<`. */
export function compareSlugs(a: string, b: string): number {
  const [x, y] = [[...a], [...b]]
  for (const [position, character] of x.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (y[position]?.codePointAt(0) ?? -1)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}
