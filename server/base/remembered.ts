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

/** The work that is under way for a key, or else new work. Nothing is under way if `start` throws. */
export function sharing<T>(): (key: string, start: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>()

  return (key, start) => {
    const known = underWay.get(key)
    if (known !== undefined) return known
    const work = start().finally(() => underWay.delete(key))
    underWay.set(key, work)
    return work
  }
}
