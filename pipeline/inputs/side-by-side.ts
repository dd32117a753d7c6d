/** Files that are read side by side; Node decompresses each on a thread of its own. */
const AT_ONCE = 4

/** Does some work for each item, a few at a time, and gives the results in the order of the items. */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  work: (item: Item, position: number) => Promise<Result>,
): Promise<Result[]> {
  const waiting = [...items.entries()]
  const results: Result[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [position, item] = next
      results[position] = await work(item, position)
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  } finally {
    // When one fails, the others stop with what they are at.
    waiting.length = 0
  }
  return results
}
