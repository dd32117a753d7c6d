import { getCompileCacheDir } from 'node:module'
import { setPriority } from 'node:os'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Something that a thread prepares. Both promises reject if it cannot. */
export interface Preparing<T> {
  /** What answers can be made from first: without gzip. */
  plain: Promise<T>
  /** All of it, with gzip. */
  whole: Promise<T>
}

/** Measured with the history of a year: 90 MB less at the peak and after it, for a fifth more CPU time. */
const LIMITS = { maxYoungGenerationSizeMb: 12 }

/** Starts a script in a thread of its own. It sends two messages, of which values are made: what it has first, then all. */
export function prepareInThread<M, T>(
  script: URL,
  workerData: unknown,
  toValue: (message: M) => T | Promise<T>,
): Preparing<T> {
  const [plain, whole] = [Promise.withResolvers<T>(), Promise.withResolvers<T>()]
  const worker = new Worker(script, { workerData, env: environmentOfThread(), resourceLimits: LIMITS })
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
