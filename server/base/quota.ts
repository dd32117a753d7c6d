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
