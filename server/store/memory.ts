import { BoundedCache } from '../base/bounded-cache.ts'
import type { Store } from './store.ts'

/** Keeps what was read from a store for as long as nobody changes it. */
export interface StoreMemory<T> {
  /**
   * What `read` says of `name`, from memory where the store is still as it was when that was read. `state` is that of
   * the store since the request came in, so that no answer is older than the request for it, whichever process made the
   * change; without it the store is asked now.
   */
  get(name: string, read: () => Promise<T>, state?: number): T | Promise<T>
}

/** `bytesOf` says what a value takes, roughly; undefined for one that is not worth to be kept. */
export function storeMemory<T>(
  store: Pick<Store, 'state'>,
  mostBytes: number,
  bytesOf: (value: T) => number | undefined,
): StoreMemory<T> {
  const empty = () => new BoundedCache<{ value: T; bytes: number }>(mostBytes, ({ bytes }) => bytes)
  let kept = empty()
  let keptState: number | undefined

  async function readAndKeep(name: string, read: () => Promise<T>, state: number): Promise<T> {
    const value = await read()
    const bytes = bytesOf(value)
    // What came in between is found by the next who asks; what was read before it must not be kept after it.
    if (state === keptState && bytes !== undefined) kept.set(name, { value, bytes })
    return value
  }

  return {
    get(name, read, state = store.state()) {
      if (state === undefined) return read()
      if (state !== keptState) {
        kept = empty()
        keptState = state
      }
      const known = kept.get(name)
      return known === undefined ? readAndKeep(name, read, state) : known.value
    },
  }
}
