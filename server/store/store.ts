import { setImmediate as nextTurn } from 'node:timers/promises'
import { Kysely, sql, type Transaction } from 'kysely'
import { migrate, NewerStoreError } from './migrations.ts'
import { RETRY_BUDGET_MS, retryWhileBusy, StoreConflictError } from './retry.ts'
import { nodeSqliteDialect, openSqlite, stateOf } from './sqlite.ts'
import type { Tables } from './tables.ts'

/** What the server keeps beside the published files. */
export interface Store {
  /** For reading. Everything that changes the store goes through `write`. */
  readonly db: Kysely<Tables>
  /**
   * Runs `work` in a transaction that holds the write lock from its start. `work` awaits nothing but the store.
   * Throws `StoreConflictError` when other writers leave it no turn.
   */
  write<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>
  /** A number that stays the same as long as nobody changes the store; undefined in the middle of a change. */
  state(): number | undefined
  /** Throws when the store does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** A store that cannot be opened; the message says which and why. */
export class StoreError extends Error {
  override name = 'StoreError'
}

/** Opens the store at `url` (`sqlite:PATH`) and brings it to the form that this code knows. */
export async function openStore(url: string, { retryBudgetMs = RETRY_BUDGET_MS } = {}): Promise<Store> {
  const path = url.replace(/^sqlite:/, '')
  try {
    const database = await retryWhileBusy(async () => openSqlite(path), retryBudgetMs)
    const own = { count: 0 }
    const db = new Kysely<Tables>({ dialect: nodeSqliteDialect(database, own) })
    try {
      await retryWhileBusy(() => migrate(db), retryBudgetMs)
    } catch (error) {
      await db.destroy()
      throw error
    }
    return asStore(db, stateOf(database, own), retryBudgetMs)
  } catch (error) {
    if (error instanceof NewerStoreError || error instanceof StoreConflictError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreError(`the store ${path} cannot be opened: ${reason}`, { cause: error })
  }
}

function asStore(db: Kysely<Tables>, state: Store['state'], retryBudgetMs: number): Store {
  const inTurn = takeTurns()
  return {
    db,
    // The whole transaction is tried anew, not its BEGIN alone: between two tries the one connection is free for readers.
    write: (work) => inTurn(() => retryWhileBusy(() => db.transaction().execute(work), retryBudgetMs)),
    state,
    async ping() {
      await sql`SELECT count(*) FROM api_keys`.execute(db)
    },
    close: () => db.destroy(),
  }
}

/**
 * One writer of this process at a time, and a turn of the event loop between two. A write of SQLite never leaves the
 * loop, so that a queue of them would hold up every request, and other processes would find the lock always taken.
 */
function takeTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(() => nextTurn()).then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
