export interface Row {
  date: string
  model_permaslug: string
  total_tokens: bigint
  /** How many dates a row of a week or month sums. */
  days?: number
}

/** The row of all models that a date does not name. No model has this slug. */
export const OTHER = 'other'

/** Compares code points; `<` compares UTF-16 code units. */
export function compareSlugs(a: string, b: string): number {
  const [x, y] = [[...a], [...b]]
  for (const [position, character] of x.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (y[position]?.codePointAt(0) ?? -1)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}
