/** So many uses of each name in a window of so many seconds; 0 is no limit. */
export interface QuotaRule {
  /** Tells the names of one rule from those of another. */
  of: 'key' | 'account' | 'address'
  limit: number
  seconds: number
}

/** What uses of several quotas came to: all were counted, or none, because some of the quotas are used up. */
export interface Spending {
  isCounted: boolean
  /** Of all quotas when the uses were counted, else of those that are used up. */
  states: QuotaState[]
}

/** Counts uses: here in the memory of this process, or for all servers of a store (`store/shared-quotas.ts`). */
export interface QuotaCounter {
  /** Counts one use of each quota, or of none when one of them is used up. `now` is in milliseconds. */
  spend(uses: readonly { rule: QuotaRule; name: string }[], now: number): Spending | Promise<Spending>
}

/** Addresses are not ours to count: beyond this many at once the one counted longest is forgotten. */
const MOST_NAMES: Partial<Record<QuotaRule['of'], number>> = { address: 100_000 }

/** Counts in the memory of this process alone: several processes together let through as many times more. */
export function countHere(): QuotaCounter {
  const quotas = new Map<QuotaRule, Quota>()
  const quotaOf = (rule: QuotaRule) => {
    const quota = quotas.get(rule) ?? new Quota(rule.limit, rule.seconds, MOST_NAMES[rule.of])
    quotas.set(rule, quota)
    return quota
  }
  return {
    spend(uses, now) {
      const exhausted = uses
        .map(({ rule, name }) => quotaOf(rule).state(name, now))
        .filter(({ remaining }) => remaining === 0)
      if (exhausted.length > 0) return { isCounted: false, states: exhausted }
      return { isCounted: true, states: uses.map(({ rule, name }) => quotaOf(rule).use(name, now)) }
    },
  }
}

/** How a quota stands for a name. */
export interface QuotaState {
  limit: number
  remaining: number
  resetSeconds: number
}

/**
 * So many uses of each name in a window of fixed length that begins with the name's first use. Fixed and not sliding,
 * because then `limit` uses always pass and the next never does, `Retry-After` is exact, and a name costs one counter.
 */
export class Quota {
  readonly limit: number
  readonly seconds: number
  readonly #capacity: number
  /** In the order in which the windows began, so that those that are over come first. */
  readonly #windows = new Map<string, { start: number; uses: number }>()

  /** Beyond `capacity` names at once the one that was counted longest is forgotten. */
  constructor(limit: number, seconds: number, capacity = Number.POSITIVE_INFINITY) {
    this.limit = limit
    this.seconds = seconds
    this.#capacity = capacity
  }

  /** How many names are remembered. */
  get size(): number {
    return this.#windows.size
  }

  /** How the quota stands for `name`, without a use. */
  state(name: string, now: number): QuotaState {
    const { start, uses } = this.#windowOf(name, now) ?? { start: now, uses: 0 }
    const resetSeconds = Math.ceil((start + this.seconds * 1000 - now) / 1000)
    return { limit: this.limit, remaining: Math.max(0, this.limit - uses), resetSeconds }
  }

  /** Counts a use of `name`. */
  use(name: string, now: number): QuotaState {
    const window = this.#windowOf(name, now) ?? this.#open(name, now)
    window.uses += 1
    return this.state(name, now)
  }

  #windowOf(name: string, now: number) {
    const window = this.#windows.get(name)
    return window !== undefined && this.#isOpen(window, now) ? window : undefined
  }

  #open(name: string, now: number) {
    const window = { start: now, uses: 0 }
    this.#windows.delete(name)
    for (const [oldest, { start }] of this.#windows) {
      if (this.#windows.size < this.#capacity && this.#isOpen({ start }, now)) break
      this.#windows.delete(oldest)
    }
    this.#windows.set(name, window)
    return window
  }

  /** A window that begins in the future is none: the clock was set back. */
  #isOpen({ start }: { start: number }, now: number): boolean {
    return start <= now && now < start + this.seconds * 1000
  }
}
