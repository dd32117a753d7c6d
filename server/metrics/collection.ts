import { type Family, lasting, merge } from './families.ts'

/** How long the first process waits for the metrics of a worker. Longer than a store that does not answer. */
const LONGEST_WAIT_MS = 3000

/** A process that has metrics. */
export interface Source {
  /** Asks for its metrics. They come later, or never. */
  ask(): void
}

/** The metrics of processes that come and go. What they count never goes down. */
export class Collection<S extends Source> {
  readonly #living = new Map<S, Family[]>()
  readonly #wait: (signal: AbortSignal) => Promise<void>
  #retired: Family[] = []
  #collecting: Promise<Family[]> | undefined
  #awaited = new Set<S>()
  #complete: () => void = () => {}

  /** `wait` is how long to wait for the sources; it may be told that there is nothing left to wait for. */
  constructor(wait: (signal: AbortSignal) => Promise<void> = longestWait) {
    this.#wait = wait
  }

  add(source: S): void {
    this.#living.set(source, [])
  }

  /** Keeps what a source has counted until its last answer. */
  remove(source: S): void {
    const last = this.#living.get(source)
    if (last === undefined) return
    this.#living.delete(source)
    this.#retired = merge([this.#retired, lasting(last)])
    this.#arrived(source)
  }

  /** Takes the answer of a source, however late. That of a source that was removed is already counted. */
  receive(source: S, families: Family[]): void {
    if (!this.#living.has(source)) return
    this.#living.set(source, families)
    this.#arrived(source)
  }

  /** The metrics of all sources; of one that does not answer in time, those that it sent last. */
  collect(): Promise<Family[]> {
    this.#collecting ??= this.#askAll().finally(() => {
      this.#collecting = undefined
    })
    return this.#collecting
  }

  async #askAll(): Promise<Family[]> {
    const complete = Promise.withResolvers<void>()
    const enough = new AbortController()
    this.#awaited = new Set(this.#living.keys())
    this.#complete = complete.resolve
    for (const source of this.#awaited) source.ask()
    if (this.#awaited.size > 0) await Promise.race([complete.promise, this.#wait(enough.signal)])
    enough.abort()
    return merge([...this.#living.values(), this.#retired])
  }

  #arrived(source: S): void {
    if (this.#awaited.delete(source) && this.#awaited.size === 0) this.#complete()
  }
}

function longestWait(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, LONGEST_WAIT_MS)
  signal.addEventListener('abort', () => clearTimeout(timer))
  return promise
}
