/** A row of a published table, as files or the browser hold it. Weeks and months have the number of their dates. */
export interface ChartRow {
  date: string
  model_permaslug: string
  total_tokens: bigint | string
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

/** `acme/model:free` -> `acme`; undefined without a slash. */
export function beforeSlash(slug: string): string | undefined {
  const slash = slug.indexOf('/')
  return slash > 0 ? slug.slice(0, slash) : undefined
}

/** The text before the first slash. A slug without one is its own author. */
export function authorOf(slug: string): string {
  return beforeSlash(slug) ?? slug
}

/**
 * All variants of a model are one family: `acme/model:free` -> `acme/model`. Versions are not merged: slugs write dates and
 * numbers in many ways, and a wrong guess would add up different models.
 */
export function familyOf(slug: string): string {
  const colon = slug.lastIndexOf(':')
  return colon > 0 ? slug.slice(0, colon) : slug
}

export function compareTokens(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b)
}

export function sumOf(values: readonly (bigint | null)[]): bigint {
  return values.reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n)
}

/** Names by their tokens in all rows, most first, without `other`. */
export function bySize(rows: readonly ChartRow[], nameOf: (slug: string) => string = (slug) => slug): string[] {
  const totals = new Map<string, bigint>()
  for (const { model_permaslug, total_tokens } of rows) {
    if (model_permaslug === OTHER) continue
    const name = nameOf(model_permaslug)
    totals.set(name, (totals.get(name) ?? 0n) + BigInt(total_tokens))
  }
  return [...totals].sort(([a, x], [b, y]) => compareTokens(y, x) || compareSlugs(a, b)).map(([name]) => name)
}
