import { createHash } from 'node:crypto'

export type Random = () => number

/** The sfc32 generator, seeded from a digest of `keys`: the same on every machine. */
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

/** A log-normal number with median 1; `spread` is the standard deviation of its logarithm. */
export function logNormal(random: Random, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.exp(spread * normal)
}

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
