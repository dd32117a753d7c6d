import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fastify } from 'fastify'
import type { ServerConfig } from './base/config.ts'
import { bootstrapKey, type RunningServer, type ServerEffects, STOP_DEADLINE_MS, startServer, urlOf } from './main.ts'
import { type Channel, metricsOfWorkers, metricsThrough } from './metrics/messages.ts'
import { serverMetrics } from './metrics/server-metrics.ts'
import { openStore } from './store/store.ts'

/** A worker ended before it listened, and reported why. */
export class WorkerError extends Error {
  override name = 'WorkerError'
}

const STOP = 'stop'
const WORKER_STOP_DEADLINE_MS = STOP_DEADLINE_MS + 5000
const PAUSE_BEFORE_REPLACING_MS = 1000

/**
 * Starts `config.workers` processes that share a port; each is a complete server. This process hands out connections in
 * turn, creates the first key, replaces dead workers and sums their metrics. Prints the same as `startServer`, once, when
 * all are ready.
 */
export async function startWorkers(config: ServerConfig, effects: ServerEffects): Promise<RunningServer> {
  const { log } = fastify({ logger: { level: config.logLevel, stream: effects.logStream } })
  const workers = new Set<Worker>()
  const metrics = metricsOfWorkers()
  let isStopping = false
  let boundPort: number | undefined

  async function fork(): Promise<AddressInfo> {
    // If all workers are gone, new ones must get the same port again, even if it was chosen by the system.
    if (workers.size === 0 && boundPort !== undefined) {
      cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(boundPort)] })
    }
    const worker = cluster.fork()
    workers.add(worker)
    const removeMetrics = metrics.add(channelTo(worker))
    worker.on('error', (error) => {
      log.error({ err: error, worker_pid: worker.process.pid }, 'a worker cannot be reached')
      // It never started, so it has no exit event.
      if (worker.process.pid !== undefined) return
      workers.delete(worker)
      removeMetrics()
    })
    worker.once('exit', (code, signal) => {
      workers.delete(worker)
      removeMetrics()
      if (!isStopping && isReady.has(worker)) void replace(worker, code, signal)
    })
    const [address] = await Promise.race([
      once(worker, 'listening') as Promise<[AddressInfo]>,
      once(worker, 'exit').then(() => {
        throw new WorkerError('a worker ended before it was ready; see its error above')
      }),
    ])
    isReady.add(worker)
    return address
  }

  async function replace({ process: { pid } }: Worker, code: number, signal: string | null): Promise<void> {
    log.error({ worker_pid: pid, code, signal }, 'a worker ended and will be replaced')
    // Pause, so that workers that fail at once do not keep the machine busy.
    await sleep(PAUSE_BEFORE_REPLACING_MS)
    while (!isStopping) {
      try {
        await fork()
        return
      } catch (error) {
        log.error({ err: error }, 'a worker could not be replaced; retrying')
        await sleep(PAUSE_BEFORE_REPLACING_MS)
      }
    }
  }

  async function close(): Promise<void> {
    isStopping = true
    await Promise.all(
      [...workers].map(async (worker) => {
        const ended = once(worker, 'exit')
        const deadline = setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_DEADLINE_MS)
        if (worker.isConnected()) worker.send(STOP)
        await ended
        clearTimeout(deadline)
      }),
    )
  }

  const isReady = new WeakSet<Worker>()
  try {
    // Start one first: it migrates the store, and its error is reported once.
    const { port } = await fork()
    boundPort = port
    await Promise.all(Array.from({ length: config.workers - 1 }, fork))
    const url = urlOf(config.host, port)
    effects.print(`listening ${url}`)
    const store = await openStore(config.databaseUrl)
    await bootstrapKey(store, config, effects, url).finally(() => store.close())
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

function channelTo(worker: Worker): Channel {
  return {
    send: (message) => {
      // It may die at any time. Its exit event says so.
      if (worker.isConnected()) worker.send(message, () => {})
    },
    onMessage: (listener) => worker.on('message', listener),
  }
}

const channelToFirst: Channel = {
  send: (message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  },
  onMessage: (listener) => process.on('message', listener),
}

export const isWorker = cluster.isWorker

/** Serves as a worker until `interrupted` or stopped by the parent process. */
export async function serveAsWorker(
  config: ServerConfig,
  effects: ServerEffects,
  interrupted: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  process.on('message', (message) => {
    if (message === STOP) stop.abort()
  })
  let server: RunningServer
  try {
    const measured = serverMetrics()
    const collectMetrics = metricsThrough(channelToFirst, measured.collect)
    server = await startServer(
      { ...config, bootstrapKey: false },
      { ...effects, print: () => {} },
      { measured, collectMetrics },
    )
  } catch (error) {
    // Do not let the channel to the parent keep this process alive.
    process.channel?.unref()
    throw error
  }
  const ending = AbortSignal.any([stop.signal, interrupted])
  if (!ending.aborted) await once(ending, 'abort')
  await server.close()
  // Only the channel keeps this process alive.
  process.disconnect()
}
