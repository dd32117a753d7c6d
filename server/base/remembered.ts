/** Makes a value once per key, also for concurrent calls. Failures are not cached. */
export function remembered<T>(most: number): (key: string, make: () => Promise<T>) => Promise<T> {
  const values = new Map<string, Promise<T>>()

  return (key, make) => {
    const known = values.get(key)
    if (known !== undefined) return known
    if (values.size >= most) values.clear()
    const value = make()
    values.set(key, value)
    value.catch(() => values.delete(key))
    return value
  }
}
