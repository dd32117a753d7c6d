import type { Random } from '../../pipeline/raw/sample/random.ts'

/** Choices that follow from a seed. */
export interface Dice {
  /** A whole number from 0 to just below `limit`. */
  below(limit: number): number
  /** True in so large a share of all cases. */
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
}

export function diceFrom(random: Random): Dice {
  const below = (limit: number) => Math.floor(random() * limit)
  return {
    below,
    chance: (share) => random() < share,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
  }
}
