/** A least-recently-used cache. `most` bounds the sum of `sizeOf` of its values, by default their number. */
export class BoundedCache<T> {
  readonly #most: number
  readonly #sizeOf: (value: T) => number
  readonly #values = new Map<string, T>()
  #newest: string | undefined
  #size = 0

  constructor(most: number, sizeOf: (value: T) => number = () => 1) {
    this.#most = most
    this.#sizeOf = sizeOf
  }

  get(name: string): T | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    // Moving an entry within a map costs a microsecond, and most requests ask for the same one.
    if (name !== this.#newest) {
      this.#values.delete(name)
      this.#values.set(name, value)
      this.#newest = name
    }
    return value
  }

  /** Caches `value` even if it alone exceeds the bound: the same request is likely to come again. */
  set(name: string, value: T): void {
    this.delete(name)
    const size = this.#sizeOf(value)
    if (this.#size + size > this.#most) this.#makeRoom(size)
    this.#values.set(name, value)
    this.#newest = name
    this.#size += size
  }

  /** The value of that name, made now if there is none. */
  find(name: string, make: () => T): T {
    const known = this.get(name)
    if (known !== undefined) return known
    const value = make()
    this.set(name, value)
    return value
  }

  #makeRoom(size: number): void {
    for (const oldest of this.#values.keys()) {
      if (this.#size + size <= this.#most) break
      this.delete(oldest)
    }
  }

  delete(name: string): void {
    const value = this.#values.get(name)
    if (value === undefined) return
    this.#values.delete(name)
    this.#size -= this.#sizeOf(value)
  }
}
