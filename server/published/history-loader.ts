import type { PreparedHistory } from './prepared-history.ts'
import { type Preparing, prepareInThread } from './thread.ts'

export interface HistoryOrder {
  /** Of `history.csv.gz`. */
  path: string
  /** Whether answers wait for it. */
  isFirst: boolean
}

export type LoadHistory = (order: HistoryOrder) => Preparing<PreparedHistory>

/** Loads the history in its own thread: a year of releases takes seconds. */
export const loadHistory: LoadHistory = (order) => {
  return prepareInThread(new URL('./history-worker.ts', import.meta.url), order, (history: PreparedHistory) => history)
}
