import { BoundedCache } from '../base/bounded-cache.ts'
import type { Store } from './store.ts'

/** A cache of values read from a store, cleared when the store changes. `bytesOf` is the approximate size of a value; undefined to not cache it. */
export function storeMemory<T>(
  store: Pick<Store, 'state'>,
  mostBytes: number,
  bytesOf: (value: T) => number | undefined,
) {
  const empty = () => new BoundedCache<{ value: T; bytes: number }>(mostBytes, ({ bytes }) => bytes)
  let kept = empty()
  let keptState: number | undefined

  async function readAndKeep(name: string, read: () => Promise<T>, state: number): Promise<T> {
    const value = await read()
    const bytes = bytesOf(value)
    // Do not cache a value that was read before a change which another call has noticed.
    if (state === keptState && bytes !== undefined) kept.set(name, { value, bytes })
    return value
  }

  return {
    /**
     * The value of `name`, cached if the store is unchanged since it was read. Pass the store's `state` at the start of
     * the request, so that no response is older than its request.
     */
    get(name: string, read: () => Promise<T>, state = store.state()): T | Promise<T> {
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
