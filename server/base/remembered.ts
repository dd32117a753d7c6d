/** Makes a value once for each key, also for many who ask at once. What fails is made again the next time. */
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
