/** Keeps values by name up to so many bytes together, and forgets first what was not used for longest. */
export class BoundedCache<T extends { readonly bytes: number }> {
  readonly #mostBytes: number
  /** In the order of their last use. */
  readonly #values = new Map<string, T>()
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  get(name: string): T | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    this.#values.delete(name)
    this.#values.set(name, value)
    return value
  }

  /** Keeps `value`, also where it alone is too large: whoever asked for it is likely to ask again. */
  set(name: string, value: T): void {
    this.#forget(name)
    for (const [oldest] of this.#values) {
      if (this.#bytes + value.bytes <= this.#mostBytes) break
      this.#forget(oldest)
    }
    this.#values.set(name, value)
    this.#bytes += value.bytes
  }

  #forget(name: string): void {
    this.#bytes -= this.#values.get(name)?.bytes ?? 0
    this.#values.delete(name)
  }
}
