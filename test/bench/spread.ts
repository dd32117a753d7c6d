/** What several rounds gave. */
export interface Spread {
  median: number
  min: number
  max: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1]
  return { median: (at(low) + at(high)) / 2, min: at(0), max: at(sorted.length - 1) }
}

/** Such as `5.24 (5.10–5.61)`. */
export function showSpread({ median, min, max }: Spread): string {
  return min === max ? digits(median) : `${digits(median)} (${digits(min)}–${digits(max)})`
}

/** Three digits: more would be noise. */
export function digits(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}
