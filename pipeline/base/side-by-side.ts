/** Files that are read side by side; Node decompresses each on a thread of its own. */
const AT_ONCE = 4

/**
 * Does some work for each item, a few at a time, and gives the results in the order of the items. When one fails, the
 * others finish what they are at, so that nothing is under way any more when its error is thrown.
 */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  work: (item: Item, position: number) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<Result[]> {
  const waiting = items.entries()
  const results: Result[] = []
  let failed = false
  const worker = async () => {
    for (const [position, item] of waiting) {
      if (failed) return
      try {
        results[position] = await work(item, position)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return results
}
