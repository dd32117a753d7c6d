import { setTimeout as sleep } from 'node:timers/promises'

/** How long a write waits for its turn before it gives up (DESIGN.md §7). */
export const RETRY_BUDGET_MS = 5000

const LONGEST_PAUSE_MS = 100

/** Another writer held the store for the whole retry budget. Nothing was changed; the caller may try again. */
export class StoreConflictError extends Error {
  override name = 'StoreConflictError'
}

/** The database does not answer, or let go of a connection in use. That may pass by itself; nothing was changed. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
}

/** The connection was lost while a change was being committed: it is there, or it is not. */
export class UnknownOutcomeError extends StoreUnavailableError {
  override name = 'UnknownOutcomeError'
}

/**
 * Runs `work` until it no longer fails by what `mayPass`, and tells it how much of the budget is left. The pauses are
 * random, so that writers do not meet again, and are spent off the event loop: SQLite's own busy wait would stop every
 * request. When `budgetMs` is used up it throws `StoreConflictError`, or that the database is unavailable.
 */
export async function retry<T>(
  work: (remainingMs: number) => Promise<T>,
  budgetMs: number,
  mayPass: (error: unknown) => boolean,
): Promise<T> {
  const deadline = performance.now() + budgetMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(deadline - performance.now())
    } catch (error) {
      if (!mayPass(error)) throw error
      if (performance.now() >= deadline) {
        if (error instanceof StoreUnavailableError) throw error
        throw new StoreConflictError('the store is locked by another writer', { cause: error })
      }
      await sleep(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS))
    }
  }
}
