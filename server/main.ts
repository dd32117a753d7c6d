import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { USAGE_FILE } from '../pipeline/contract/usage.ts'
import type { ConnectionLimits } from './api/connections.ts'
import { buildApp } from './app.ts'
import { isLoopback, type ServerConfig } from './base/config.ts'
import { logBatch } from './base/log-batch.ts'
import { serverMetrics } from './metrics/server-metrics.ts'
import { embeddingsCatalogue, fillNewCatalogue } from './store/embeddings-models.ts'
import { apiKeys } from './store/keys.ts'
import { isPostgresUrl, openStore, type Store } from './store/store.ts'

export interface ServerEffects {
  clock: () => Date
  print: (line: string) => void
  /** Takes lines of JSON. */
  logStream: { write(text: string): unknown }
}

export interface RunningServer {
  url: string
  /** Stops accepting requests, finishes running ones until the deadline, then closes the store. */
  close(): Promise<void>
}

export class ListenError extends Error {
  override name = 'ListenError'
}

export const STOP_DEADLINE_MS = 10_000

interface ServerOptions {
  stopDeadlineMs?: number
  connectionLimits?: Partial<ConnectionLimits>
}

/** Opens the store, loads the release and listens. Prints `listening <url>` and, for a new store, its first key. */
export async function startServer(
  config: ServerConfig,
  effects: ServerEffects,
  { stopDeadlineMs = STOP_DEADLINE_MS, connectionLimits }: ServerOptions = {},
): Promise<RunningServer> {
  const measured = serverMetrics()
  const store = await openStore(config.databaseUrl, { observe: measured.observeStore })
  const log = logBatch(effects.logStream)
  process.on('exit', log.flush)
  const app = buildApp({
    store,
    publicDir: config.publicDir,
    usageFile: join(config.dataDir, USAGE_FILE),
    clock: effects.clock,
    asOf: config.asOf,
    trustProxy: config.trustProxy,
    prefix: config.pathPrefix,
    rateLimitSettings: config.rateLimits,
    connectionLimits,
    measured,
    metricsToken: config.metricsToken,
    log: { level: config.logLevel, stream: log },
  })
  async function end(deadlineMs: number): Promise<void> {
    await stop(app, store, deadlineMs)
    log.flush()
    process.off('exit', log.flush)
  }

  try {
    // Start loading the release first, because it takes longest.
    void app.releases.check()
    await fillNewCatalogue(embeddingsCatalogue(store), config.dataDir)
    await app.ready()
    const url = await listen(app, config)
    effects.print(`listening ${url}`)
    if (isPostgresUrl(config.databaseUrl))
      app.log.info('rate limits count in each process: PostgreSQL does not share them')
    await bootstrapKey(store, config, effects, url)
    return { url, close: () => end(stopDeadlineMs) }
  } catch (error) {
    await end(0)
    throw error
  }
}

/** Tries the address and the store, before a long build. Throws what `startServer` would throw. */
export async function tryToStart(config: Pick<ServerConfig, 'host' | 'port' | 'databaseUrl'>): Promise<void> {
  const server = createServer()
  try {
    server.listen(addressOf(config))
    await once(server, 'listening')
  } catch (error) {
    throw cannotListen(config, error)
  }
  server.close()
  await once(server, 'close')
  const store = await openStore(config.databaseUrl)
  await store.close()
}

type Address = Pick<ServerConfig, 'host' | 'port'>

function addressOf({ host, port }: Address): Address {
  // For localhost, Fastify would open a second socket for the other address family and then not manage it.
  return { host: host === 'localhost' ? '127.0.0.1' : host, port }
}

function cannotListen({ host, port }: Address, error: unknown): ListenError {
  return new ListenError(`cannot listen on ${host}, port ${port}: ${reasonOf(error)}`, { cause: error })
}

async function listen(app: FastifyInstance, config: ServerConfig): Promise<string> {
  const { host } = config
  try {
    await app.listen(addressOf(config))
  } catch (error) {
    throw cannotListen(config, error)
  }
  const { port: boundPort } = app.server.address() as AddressInfo
  return urlOf(host, boundPort)
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'the port is in use; stop the program that has it or choose another PORT'
  if (code === 'EACCES') return 'this user may not use the port; choose a PORT above 1023'
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'this machine has no such address; choose another HOST'
  return message
}

/** Shows the first key of a new store, once, if the server is reachable from this machine only. */
async function bootstrapKey(store: Store, config: ServerConfig, effects: ServerEffects, url: string): Promise<void> {
  if (!config.bootstrapKey || !isLoopback(config.host)) return
  const created = await apiKeys(store).createFirst({ name: 'bootstrap', isManagement: true }, effects.clock())
  if (created === undefined) return
  effects.print(`key ${created.secret}`)
  effects.print(
    `try curl -sS --fail-with-body -H 'Authorization: Bearer ${created.secret}' '${url}/api/v1/datasets/rankings-daily'`,
  )
}

async function stop(app: FastifyInstance, store: Store, deadlineMs: number): Promise<void> {
  const closed = app.close()
  const deadline = setTimeout(() => app.server.closeAllConnections(), deadlineMs)
  try {
    await closed
  } finally {
    clearTimeout(deadline)
    await store.close()
  }
}
