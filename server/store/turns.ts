import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreConflictError } from './retry.ts'

/** What passes until a turn comes while nobody else has one. */
const NO_WAIT_MS = 50

/**
 * One writer of this process at a time, and a turn of the event loop between two. A write of SQLite never leaves the
 * loop, so that a queue of them would hold up every request, and other processes would find the lock always taken. On
 * PostgreSQL writers that wait for the lock would take up all connections, which readers need.
 *
 * `work` is told how much of `budgetMs` is left. Whoever had no turn within it gets `StoreConflictError`: behind a lock
 * that is held for long each would else wait for all before it, and write what its client has given up by then.
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
          throw new StoreConflictError('other writers of this process left no turn')
        }
        return work(Math.max(0, budgetMs - waited))
      })
    last = turn.catch(() => undefined)
    return turn
  }
}
