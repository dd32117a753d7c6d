import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** A database that carries the store: what SQLite and PostgreSQL do each in its own way. */
export interface Engine {
  /** What messages call the database; never with a password in it. */
  readonly name: string
  /** For reading. Everything that changes the store goes through `write`. */
  readonly db: Kysely<Tables>
  /** Whether servers on several machines may have it open at once. */
  readonly isShared: boolean
  /**
   * Runs `work` in a transaction that holds the one write lock from its start. `work` awaits nothing but the store, and
   * may be run anew after a transaction that came to nothing. Throws `StoreConflictError` when other writers leave it no
   * turn, `StoreUnavailableError` when the database does not answer.
   */
  write<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>
  /**
   * A number that stays the same as long as nobody changes the store; undefined in the middle of a change, and always
   * where that cannot be told without asking, so that nothing is kept in memory.
   */
  state(): number | undefined
}
