import { getCompileCacheDir } from 'node:module'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { POINTER_PATH } from '../../pipeline/contract/published-paths.ts'
import { fingerprint } from '../base/followed-file.ts'
import type { Dataset, PreparedRelease } from './dataset.ts'
import type { PreparedHistory } from './prepared-history.ts'

/** Something that a thread prepares. Both promises reject if it cannot. */
export interface Preparing<T> {
  /** What answers can be made from first: without gzip. */
  plain: Promise<T>
  /** All of it, with gzip. */
  whole: Promise<T>
}

export interface ReleaseOrder {
  publicDir: string
  /** By default the current release. */
  entry?: ReleaseEntry | undefined
  stamp?: string | undefined
  isFirst?: boolean
}

export interface HistoryOrder {
  /** Of `history.csv.gz`. */
  path: string
  /** Whether answers wait for it. */
  isFirst: boolean
}

/** Loads a release. Of the first one of a server, `plain` is the daily table alone. */
export type LoadRelease = (order: ReleaseOrder) => Preparing<Dataset>
export type LoadHistory = (order: HistoryOrder) => Preparing<PreparedHistory>

let ahead: { publicDir: string; stamp: string | undefined; loading: Preparing<Dataset> } | undefined

/** Loads the current release while the server's modules load. Used if the pointer is unchanged by then. */
export async function loadAhead(publicDir: string): Promise<void> {
  // Taken before reading, so that a pointer switched meanwhile is noticed.
  const stamp = await fingerprint(join(publicDir, POINTER_PATH))
  ahead = { publicDir, stamp, loading: prepareInThread({ publicDir, isFirst: true }, toDataset) }
}

/** Loads a release in its own thread: two years take about a second. */
export const loadRelease: LoadRelease = (order) => {
  if (order.entry !== undefined) return prepareInThread(order, toDataset)
  const begun = ahead
  ahead = undefined
  const isThis = begun?.publicDir === order.publicDir && begun.stamp === order.stamp
  return isThis ? begun.loading : prepareInThread(order, toDataset)
}

/** Loads the history in its own thread: a year of releases takes seconds. */
export const loadHistory: LoadHistory = (order) => prepareInThread(order, (history: PreparedHistory) => history)

/** Loads what it needs when the thread has begun, so that the thread begins at once. */
async function toDataset(prepared: PreparedRelease): Promise<Dataset> {
  const { datasetOf } = await import('./dataset.ts')
  return datasetOf(prepared)
}

/** Saves 90 MB with the history of a year, and takes a fifth more CPU time. */
const LIMITS = { maxYoungGenerationSizeMb: 12 }

/** Starts a thread. It sends two messages, of which values are made: what it has first, then all. */
function prepareInThread<M, T>(
  order: ReleaseOrder | HistoryOrder,
  toValue: (message: M) => T | Promise<T>,
): Preparing<T> {
  const [plain, whole] = [Promise.withResolvers<T>(), Promise.withResolvers<T>()]
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: order,
    env: environmentOfThread(),
    resourceLimits: LIMITS,
  })
  worker.once('message', (first: M) => {
    worker.once('message', (all: M) => whole.resolve(toValue(all)))
    plain.resolve(toValue(first))
    // Loading gzip must not keep the process alive.
    worker.unref()
  })
  const fail = (error: unknown) => {
    plain.reject(error)
    whole.reject(error)
  }
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`a thread ended midway, with code ${code}`)))
  whole.promise.catch(() => undefined)
  plain.promise.catch(() => undefined)
  return { plain: plain.promise, whole: whole.promise }
}

const NICE = 10

/** Lets the thread that answers go first. Linux only: elsewhere this slows the whole server. */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(NICE)
}

/** The thread needs the compile cache folder before its first module, or loses 30 ms. */
function environmentOfThread(): Record<string, string> {
  const ofThisNode = getCompileCacheDir()
  return ofThisNode === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisNode) }
}
