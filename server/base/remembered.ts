import { BoundedCache } from './bounded-cache.ts'

/** Makes a value once for each key, even when several ask at once. A failure is tried again the next time. */
export function remembered<T>(most: number): (key: string, make: () => Promise<T>) => Promise<T> {
  const values = new BoundedCache<Promise<T>>(most)

  return (key, make) =>
    values.find(key, () => {
      const value = make()
      value.catch(() => values.delete(key))
      return value
    })
}
