import { open } from 'node:fs/promises'

/** With so many bits for each hash, few are wrongly taken for repeated ones. */
const BITS_PER_HASH = 16
const [LEAST_BITS, MOST_BITS] = [2 ** 10, 2 ** 30]

/**
 * Writes the hashes that occur a second time into a file, a line for each, and returns how many these are. A few others
 * are among them. DuckDB would take longer to count groups of hashes.
 */
export async function writeRepeated(
  pieces: Iterable<BigUint64Array> | AsyncIterable<BigUint64Array>,
  hashes: number,
  path: string,
): Promise<number> {
  const filter = new HashFilter(hashes)
  const file = await open(path, 'w')
  let count = 0
  try {
    for await (const piece of pieces) {
      const repeated = filter.add(piece)
      if (repeated.length > 0) await file.write(`${repeated.join('\n')}\n`)
      count += repeated.length
    }
  } finally {
    await file.close()
  }
  return count
}

/** A Bloom filter with two bits for each hash. */
class HashFilter {
  readonly #words: Uint32Array
  readonly #mask: number

  constructor(hashes: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(1, hashes) * BITS_PER_HASH))
    const bits = Math.min(MOST_BITS, Math.max(LEAST_BITS, size))
    this.#words = new Uint32Array(bits / 32)
    this.#mask = bits - 1
  }

  /** Adds hashes, and returns those that may have been added before. */
  add(hashes: BigUint64Array): bigint[] {
    const halves = new Uint32Array(hashes.buffer, hashes.byteOffset, hashes.length * 2)
    const known: bigint[] = []
    for (let position = 0; position < hashes.length; position += 1) {
      const isFirstSet = this.#set(halves[2 * position] ?? 0)
      const isSecondSet = this.#set(halves[2 * position + 1] ?? 0)
      if (isFirstSet && isSecondSet) known.push(hashes[position] ?? 0n)
    }
    return known
  }

  /** Sets a bit, and returns whether it was set. */
  #set(hash: number): boolean {
    const bit = hash & this.#mask
    const word = this.#words[bit >>> 5] ?? 0
    this.#words[bit >>> 5] = word | (1 << bit)
    return ((word >>> bit) & 1) === 1
  }
}
