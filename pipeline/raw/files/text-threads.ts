import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { BuildError } from '../../base/errors.ts'
import type { OnRead } from './decompress.ts'
import type { TextContent, TextFile } from './text.ts'

/** What a thread sends: bytes read since it last said so, then the content of its file or what is wrong with it. */
export type FromThread = { read: number } | { content: TextContent } | { fault: string } | { error: unknown }

/** More gain nothing: decompression has a pool of threads of its own. */
const MOST_THREADS = 8

/** Threads that read text files, one file each at a time. Close them when all is read. */
export class TextThreads {
  readonly #idle: Worker[]
  readonly #all: readonly Worker[]

  constructor(files: number) {
    const threads = Math.min(availableParallelism(), MOST_THREADS, files)
    const script = new URL('./text-thread.ts', import.meta.url)
    this.#all = Array.from({ length: threads }, () => new Worker(script, { env: environmentOfThread() }))
    this.#idle = [...this.#all]
  }

  get size(): number {
    return this.#all.length
  }

  /** Reads a file in a thread; there must be an idle one. Throws `BuildError` that names the file. */
  async read(file: TextFile, onRead: OnRead): Promise<TextContent> {
    const worker = this.#idle.pop()
    if (worker === undefined) throw new Error('no thread is idle')
    const { promise, resolve, reject } = Promise.withResolvers<TextContent>()
    const onMessage = (message: FromThread) => {
      if ('read' in message) onRead(message.read)
      else if ('content' in message) resolve(message.content)
      else reject('fault' in message ? new BuildError(message.fault) : message.error)
    }
    let isAlive = true
    const onError = (error: unknown) => {
      isAlive = false
      reject(error)
    }
    const onExit = () => onError(new Error(`the thread that reads ${file.file.name} was ended`))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(file)
    try {
      return await promise
    } finally {
      if (isAlive) this.#idle.push(worker)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()))
  }
}

/** Compiled modules are only found from the start of a thread on. */
function environmentOfThread(): Record<string, string> {
  const ofThisNode = getCompileCacheDir()
  return ofThisNode === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisNode) }
}
