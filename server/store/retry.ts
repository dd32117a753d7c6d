import { setTimeout as sleep } from 'node:timers/promises'

/** How long a write waits for its turn before it gives up (DESIGN.md §7). */
export const RETRY_BUDGET_MS = 5000

const LONGEST_PAUSE_MS = 100
const SQLITE_BUSY = 5

/** Another writer held the store for the whole retry budget. Nothing was changed; the caller may try again. */
export class StoreConflictError extends Error {
  override name = 'StoreConflictError'
}

/** Whether SQLite refused a statement because another connection holds the lock that it needs. */
export function isBusy(error: unknown): boolean {
  // The low byte of an extended result code is the plain one.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}

/**
 * Runs `work` until it no longer meets a lock. The pauses are random, so that writers do not meet again, and are spent
 * off the event loop: SQLite's own busy wait would stop every request.
 * Throws `StoreConflictError` when `budgetMs` is used up.
 */
export async function retryWhileBusy<T>(work: () => Promise<T>, budgetMs: number): Promise<T> {
  const deadline = performance.now() + budgetMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() >= deadline) {
        throw new StoreConflictError('the store is locked by another writer', { cause: error })
      }
      await sleep(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS))
    }
  }
}
