import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { fingerprint } from '../base/followed-file.ts'
import { type Dataset, datasetOf, type PreparedRelease } from './dataset.ts'
import { pointerPath } from './release.ts'

export interface LoadOrder {
  publicDir: string
  entry?: ReleaseEntry | undefined
  stamp?: string | undefined
  isFirst?: boolean
}

/** Both promises reject if the release is invalid. */
export interface LoadingRelease {
  /** Without gzip. Of the first release it is the daily table alone. */
  plain: Promise<Dataset>
  /** With all that the release has, and with gzip. */
  whole: Promise<Dataset>
}

export type LoadRelease = (order: LoadOrder) => LoadingRelease

let ahead: { publicDir: string; stamp: string | undefined; loading: LoadingRelease } | undefined

/** Loads the current release while the server's modules load. Used if the pointer is unchanged by then. */
export async function loadAhead(publicDir: string): Promise<void> {
  // Taken before reading, so that a pointer switched meanwhile is noticed.
  const stamp = await fingerprint(pointerPath(publicDir))
  ahead = { publicDir, stamp, loading: loadInThread({ publicDir, isFirst: true }) }
}

/** Loads a release in its own thread: two years take about a second. */
export const loadRelease: LoadRelease = (order) => {
  if (order.entry !== undefined) return loadInThread(order)
  const begun = ahead
  ahead = undefined
  const isThis = begun?.publicDir === order.publicDir && begun.stamp === order.stamp
  return isThis ? begun.loading : loadInThread(order)
}

function loadInThread(order: LoadOrder): LoadingRelease {
  const [plain, whole] = [Promise.withResolvers<Dataset>(), Promise.withResolvers<Dataset>()]
  const worker = new Worker(new URL('./release-worker.ts', import.meta.url), {
    workerData: order,
    env: environmentOfThread(),
  })
  worker.on('message', (prepared: PreparedRelease) => {
    const dataset = datasetOf(prepared)
    plain.resolve(dataset)
    if (dataset.hasGzip) whole.resolve(dataset)
    // Loading gzip must not keep the process alive.
    worker.unref()
  })
  const fail = (error: unknown) => {
    plain.reject(error)
    whole.reject(error)
  }
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the loading of a release ended midway, with code ${code}`)))
  whole.promise.catch(() => undefined)
  plain.promise.catch(() => undefined)
  return { plain: plain.promise, whole: whole.promise }
}

/** The thread needs the compile cache folder before its first module, or loses 30 ms. */
function environmentOfThread(): Record<string, string> {
  const ofThisNode = getCompileCacheDir()
  return ofThisNode === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisNode) }
}
