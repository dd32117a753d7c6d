import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * One writer of this process at a time, and a turn of the event loop between two. A write of SQLite never leaves the
 * loop, so that a queue of them would hold up every request, and other processes would find the lock always taken. On
 * PostgreSQL writers that wait for the lock would take up all connections, which readers need.
 */
export function takeTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(() => nextTurn()).then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
