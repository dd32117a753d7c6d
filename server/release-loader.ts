import { Worker } from 'node:worker_threads'
import type { ReleaseEntry } from '../pipeline/contract/manifest.ts'
import { compressRelease, type Dataset, datasetOf, type PreparedRelease, serialiseRelease } from './dataset.ts'
import { type Release, ReleaseError, readCurrentRelease, readListedRelease } from './release.ts'

/** Which release a worker loads: the current one, or another one of the index. */
export interface LoadOrder {
  publicDir: string
  entry?: ReleaseEntry | undefined
  /** Nothing can be answered before it is loaded. */
  isFirst?: boolean
}

/** A release that is being loaded. Both reject with what is wrong with it. */
export interface LoadingRelease {
  /** As soon as it can be answered plainly. */
  plain: Promise<Dataset>
  /** When it can be answered as gzip too. */
  whole: Promise<Dataset>
}

export type LoadRelease = (order: LoadOrder) => LoadingRelease

let waiting: Worker | undefined

/** Starts the thread that the next release is loaded in, whose modules take as long to load as those of the server. */
export function startThread(): void {
  waiting ??= new Worker(new URL('./release-worker.ts', import.meta.url))
  // Waiting for an order is no reason for a process to live on.
  waiting.unref()
}

/** The thread that waits already, or a new one. */
function takeThread(): Worker {
  startThread()
  const worker = waiting as Worker
  waiting = undefined
  worker.ref()
  return worker
}

/**
 * Loads a release in a thread of its own: reading, checking and compressing two years takes about a second, and no
 * request should wait for any of it.
 */
export const loadRelease: LoadRelease = (order) => {
  const [plain, whole] = [Promise.withResolvers<Dataset>(), Promise.withResolvers<Dataset>()]
  const worker = takeThread()
  worker.on('message', (prepared: PreparedRelease) => {
    const dataset = datasetOf(prepared)
    plain.resolve(dataset)
    if (dataset.hasGzip) whole.resolve(dataset)
    // What is still to come is no reason for a process to live on.
    worker.unref()
  })
  const fail = (error: unknown) => {
    plain.reject(error)
    whole.reject(error)
  }
  worker.on('error', (error) => fail(asReleaseError(error)))
  worker.on('exit', (code) => fail(new Error(`the loading of a release ended midway, with code ${code}`)))
  // Whoever waits for `plain` alone is told by it.
  whole.promise.catch(() => undefined)
  plain.promise.catch(() => undefined)
  worker.postMessage(order)
  return { plain: plain.promise, whole: whole.promise }
}

/** What crosses from a thread to another loses its class, but not its name. */
function asReleaseError(error: Error): Error {
  return error.name === 'ReleaseError' ? new ReleaseError(error.message, { cause: error.cause }) : error
}

/** Loads a release in this thread: nothing is answered meanwhile. */
export const loadReleaseHere: LoadRelease = (order) => {
  const prepared = readRelease(order).then(serialiseRelease)
  const plain = prepared.then(datasetOf)
  const whole = prepared.then((serialised) => datasetOf({ ...serialised, gzip: compressRelease(serialised) }))
  whole.catch(() => undefined)
  plain.catch(() => undefined)
  return { plain, whole }
}

/** Reads what is ordered, with all checks. */
export function readRelease({ publicDir, entry }: LoadOrder): Promise<Release> {
  return entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry)
}
