/** Node decompresses each file on its own thread. */
const AT_ONCE = 4

/** Small files mostly wait for the disk. */
export const SMALL_FILES_AT_ONCE = 16

/** Maps items a few at a time, in order. After a failure, running items finish before its error is thrown. */
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
