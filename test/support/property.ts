/** How often properties of whole builds are tried, and from which seed. More for a long night: PROPERTY_RUNS=2000. */
const { PROPERTY_RUNS = '3', PROPERTY_SEED = '20250304' } = process.env
/** A limit for what hangs, which no busy machine meets. */
const LIMIT_MS = 600_000
const LIMIT_MS_PER_RUN = 60_000

/** Options for fast-check, and the time after which the test counts as hanging. What fails is reported as it was found. */
export function tries({ share = 1, seed = 0 }: { share?: number; seed?: number } = {}) {
  const numRuns = Math.ceil(Number(PROPERTY_RUNS) * share)
  return {
    numRuns,
    options: { numRuns, seed: Number(PROPERTY_SEED) + seed, endOnFailure: true },
    timeout_ms: LIMIT_MS + numRuns * LIMIT_MS_PER_RUN,
  }
}

export type Random = () => number

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item
}
