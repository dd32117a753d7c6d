/** The last `most` values that this process made, by key: several builds of equal data in one process make them once. */
export class LastMade<Value> {
  readonly #values = new Map<string, Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.#most && oldest !== undefined) this.#values.delete(oldest)
  }
}
