import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** How long a write waits for the lock. */
export const RETRY_BUDGET_MS = 5000

const LONGEST_PAUSE_MS = 100

/** Another writer held the store for the whole retry budget. Nothing was changed. */
export class StoreConflictError extends Error {
  override name = 'StoreConflictError'
}

/** The database does not respond or dropped the connection. Nothing was changed; retrying may help. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
}

/** The connection was lost during a commit: the change may or may not be stored. */
export class UnknownOutcomeError extends StoreUnavailableError {
  override name = 'UnknownOutcomeError'
}

/**
 * Retries `work` while it fails with temporary errors. Pauses are random, so that writers do not collide again, and do
 * not block the event loop as SQLite's busy wait would. After `budgetMs` throws `StoreConflictError` or
 * `StoreUnavailableError`.
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

/** The delay of a turn without waiting writers. */
const NO_WAIT_MS = 50

/**
 * Lets one writer of this process run at a time, with a turn of the event loop in between. Otherwise queued SQLite
 * writes would block requests and other processes, and waiting PostgreSQL writers would take all connections. `work`
 * gets the rest of `budgetMs`. Writers that wait longer get `StoreConflictError`, so they do not write after their
 * clients have given up.
 */
export function takeTurns(budgetMs: number): <T>(work: (remainingMs: number) => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const asked = performance.now()
    const turn = last
      .then(() => nextTurn())
      .then(() => {
        const waited = performance.now() - asked
        if (waited > Math.max(budgetMs, NO_WAIT_MS)) {
          throw new StoreConflictError('other writers of this process held the lock')
        }
        return work(Math.max(0, budgetMs - waited))
      })
    last = turn.catch(() => undefined)
    return turn
  }
}
