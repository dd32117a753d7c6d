/** A least-recently-used cache, bounded by the bytes of its values. */
export class BoundedCache<T extends { readonly bytes: number }> {
  readonly #mostBytes: number
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

  /** Caches `value` even if it alone exceeds the bound: the same request is likely to come again. */
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
