import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreConflictError } from './retry.ts'

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
