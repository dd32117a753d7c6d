/** A limit of uses per name and window; 0 is no limit. */
export interface QuotaRule {
  of: 'key' | 'account' | 'address'
  limit: number
  seconds: number
}

/** The result of counting a use in several quotas: in all of them, or in none if one is used up. */
export interface Spending {
  isCounted: boolean
  /** All quotas if counted, else those used up. */
  states: QuotaState[]
  /** What the quotas that are used up are of. Empty if counted. */
  usedUp: QuotaRule['of'][]
}

/** Limits memory: clients can use any number of addresses. The oldest is dropped. */
const MOST_NAMES: Partial<Record<QuotaRule['of'], number>> = { address: 100_000 }

/**
 * Counts a use in every quota, or in none if one is used up. `now` is in milliseconds. Each process has quotas of its
 * own.
 */
export function quotas(): (uses: readonly { rule: QuotaRule; name: string }[], now: number) => Spending {
  const known = new Map<QuotaRule, Quota>()
  const quotaOf = (rule: QuotaRule) => {
    const quota = known.get(rule) ?? new Quota(rule.limit, rule.seconds, MOST_NAMES[rule.of])
    known.set(rule, quota)
    return quota
  }
  return (uses, now) => {
    const exhausted = uses
      .map(({ rule, name }) => ({ of: rule.of, state: quotaOf(rule).state(name, now) }))
      .filter(({ state }) => state.remaining === 0)
    if (exhausted.length > 0) {
      return { isCounted: false, states: exhausted.map(({ state }) => state), usedUp: exhausted.map(({ of }) => of) }
    }
    return { isCounted: true, states: uses.map(({ rule, name }) => quotaOf(rule).use(name, now)), usedUp: [] }
  }
}

export interface QuotaState {
  limit: number
  remaining: number
  resetSeconds: number
}

/**
 * A limit of uses per name in a fixed window, which begins with the name's first use. Compared with a sliding window,
 * exactly `limit` uses pass, `Retry-After` is exact, and a name needs one counter.
 */
export class Quota {
  readonly limit: number
  readonly seconds: number
  readonly #capacity: number
  readonly #windows = new Map<string, { start: number; uses: number }>()

  constructor(limit: number, seconds: number, capacity = Number.POSITIVE_INFINITY) {
    this.limit = limit
    this.seconds = seconds
    this.#capacity = capacity
  }

  get size(): number {
    return this.#windows.size
  }

  state(name: string, now: number): QuotaState {
    const { start, uses } = this.#windowOf(name, now) ?? { start: now, uses: 0 }
    const resetSeconds = Math.ceil((start + this.seconds * 1000 - now) / 1000)
    return { limit: this.limit, remaining: Math.max(0, this.limit - uses), resetSeconds }
  }

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

  /** A window that begins in the future does not count: the clock was set back. */
  #isOpen({ start }: { start: number }, now: number): boolean {
    return start <= now && now < start + this.seconds * 1000
  }
}
