/** What a worker answers. The messages are those of the worker of `@duckdb/duckdb-wasm`. */
interface Response {
  requestId: number
  type: string
  data: unknown
}

type Request =
  | ['INSTANTIATE', [wasm: string, threads: null]]
  | ['OPEN', Record<string, never>]
  | ['CONNECT', null]
  | ['RUN_QUERY', [connection: number, sql: string]]
  | ['REGISTER_FILE_BUFFER', [name: string, bytes: Uint8Array]]
  | ['COPY_FILE_TO_BUFFER', name: string]
  | ['DROP_FILE', name: string]
  | ['TOKENIZE', script: string]

/** The worker was stopped. */
export class StoppedError extends Error {}

export interface DuckDbWorker {
  /** Throws with DuckDB's message if it fails, and `StoppedError` if the worker was stopped. */
  ask(...request: Request): Promise<unknown>
  stop(): void
}

interface Waiting {
  resolve(data: unknown): void
  reject(error: Error): void
}

/** Messages that answer no request, or not yet. */
const UNASKED = new Set(['LOG', 'INSTANTIATE_PROGRESS', 'PROGRESS_UPDATE'])

/** Starts DuckDB's worker. It answers one request after the other. */
export function startWorker(url: string): DuckDbWorker {
  const worker = new Worker(url)
  const waiting = new Map<number, Waiting>()
  let last = 0
  let failure: Error | undefined

  function fail(error: Error): void {
    failure = error
    worker.terminate()
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  worker.addEventListener('message', ({ data: { requestId, type, data } }: MessageEvent<Response>) => {
    const request = waiting.get(requestId)
    if (request === undefined || UNASKED.has(type)) return
    waiting.delete(requestId)
    if (type === 'ERROR') request.reject(new Error((data as Error).message))
    else request.resolve(data)
  })
  worker.addEventListener('error', ({ message }) => fail(new Error(message || `${url} could not be loaded`)))

  return {
    ask(type, data) {
      if (failure !== undefined) return Promise.reject(failure)
      last += 1
      const messageId = last
      return new Promise((resolve, reject) => {
        waiting.set(messageId, { resolve, reject })
        worker.postMessage({ messageId, type, data })
      })
    },
    stop: () => fail(new StoppedError('stopped')),
  }
}
