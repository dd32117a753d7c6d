import type { Kysely, LogEvent, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** Gets the seconds of each statement. */
export type ObserveStatement = (seconds: number) => void

export interface Engine {
  readonly name: string
  readonly db: Kysely<Tables>
  /** The type of text that is compared by its bytes. */
  readonly textType: string
  /**
   * Runs `work` in a transaction that holds the write lock from its start. `work` may run again after a failed
   * transaction and must only await the store. Throws `StoreConflictError` if other writers block it,
   * `StoreUnavailableError` if the database does not respond.
   */
  write<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>
  /** A number that changes with the store. Undefined during a change, and if it is unknown: then cache nothing. */
  state(): number | undefined
}

/** The logger of Kysely that tells how long each statement took. Without an observer, nothing is measured. */
export function timed(observe: ObserveStatement | undefined): { log?: (event: LogEvent) => void } {
  if (observe === undefined) return {}
  return { log: ({ queryDurationMillis }) => observe(queryDurationMillis / 1000) }
}
