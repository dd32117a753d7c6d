import { createHash } from 'node:crypto'

/** Gives the next number of a seeded series, evenly spread from 0 to just below 1. */
export type Random = () => number

/** The generator sfc32, started from a digest of `keys`: the same keys give the same series on every machine. */
export function seededRandom(...keys: (string | number)[]): Random {
  const digest = createHash('sha256').update(keys.join('\n')).digest()
  let a = digest.readInt32LE(0)
  let b = digest.readInt32LE(4)
  let c = digest.readInt32LE(8)
  let counter = digest.readInt32LE(12)
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
}

/** A long-tailed number around the median 1: `spread` is the standard deviation of its logarithm. */
export function logNormal(random: Random, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.exp(spread * normal)
}

/** Prepares a draw from `items` in which each comes up in proportion to its weight. */
export function weightedDraw<T>(
  items: readonly T[],
  weightOf: (item: T, index: number) => number,
): (random: Random) => T {
  let total = 0
  const bounds = Float64Array.from(items, (item, index) => {
    total += weightOf(item, index)
    return total
  })
  return (random) => {
    const point = random() * total
    let low = 0
    let high = bounds.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (point < (bounds[middle] as number)) high = middle
      else low = middle + 1
    }
    return items[low] as T
  }
}
