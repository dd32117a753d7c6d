import type { Dataset } from './dataset.ts'

/** Keeps what was made of a release, for as long as anybody has the release: so many values, of which the oldest goes first. */
export class DatasetMemory<T extends object> {
  readonly #most: number
  readonly #known = new WeakMap<Dataset, Map<string, T>>()

  constructor(most: number) {
    this.#most = most
  }

  /** The value of that name; `make` is called when there is none. */
  find(dataset: Dataset, name: string, make: () => T): T {
    const values = this.#known.get(dataset) ?? new Map<string, T>()
    this.#known.set(dataset, values)
    const known = values.get(name)
    if (known !== undefined) return known
    const [oldest] = values.keys()
    if (oldest !== undefined && values.size >= this.#most) values.delete(oldest)
    const value = make()
    values.set(name, value)
    return value
  }
}
