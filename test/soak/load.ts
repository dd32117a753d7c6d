import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientCounts, ClientOrder } from './load-clients.ts'
import { type Releases, releasesIn } from './load-releases.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'
import { type Serving, serve } from './serving.ts'

const SECONDS = 240
const IDLE_CONNECTIONS = 10_000
const LARGE_FILE_BYTES = 8 * 2 ** 20
const LARGEST_GROWTH_BYTES = 64 * 2 ** 20
/** A stop waits so long for clients that do not come to an end, and a process of its own some time to end. */
const LONGEST_STOP_MS = 20_000
const NOW = '2025-02-10T09:30:00Z'

export const part: SoakPart = {
  name: 'load',
  promise: 'good requests succeed, and memory stays flat, whatever other clients do and however often releases switch',
  async run(options) {
    const figures: Figure[] = []
    for (const workers of [1, 2]) {
      const of = await underLoad(workers, options)
      figures.push(...of.map(({ what, value }) => ({ what: `WORKERS=${workers}: ${what}`, value })))
    }
    return figures
  },
}

async function underLoad(workers: number, options: SoakOptions): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-load-'))
  const publicDir = join(folder, 'public')
  await mkdir(publicDir, { recursive: true })
  await writeFile(join(publicDir, 'large.bin'), Buffer.alloc(LARGE_FILE_BYTES, 'tokenboard'))
  const releases = releasesIn(publicDir)
  await releases.publishNext()
  const server = await serve({ publicDir, dataDir: join(folder, 'data') }, { AS_OF: NOW, WORKERS: String(workers) })
  const idle = Math.min(IDLE_CONNECTIONS, shareOf(4 * IDLE_CONNECTIONS, options))
  const order = { port: server.port, key: server.key, seed: options.seed, idle }
  const orderly = startClients({ role: 'orderly', ...order })
  const hostile = startClients({ role: 'hostile', ...order })
  try {
    const memory = await switchReleases(server, releases, options)
    options.report(`${workers} workers: ${releases.count} releases, now the stop`)
    // With one worker the stop finds all of them, with two those alone who want to be answered.
    const isHostile = workers === 1
    const early = isHostile ? undefined : await hostile.stop()
    const ms = await stopServer(server, [orderly, hostile])
    const good = await orderly.stop()
    const bad = early ?? (await hostile.stop())
    if (server.complaints.length > 0) throw new Error(`the server logged ${server.complaints[0]}`)
    return [
      { what: 'seconds of load', value: String(memory.length) },
      { what: 'releases switched', value: String(releases.count - 1) },
      ...Object.entries({ ...good.counts, ...bad.counts }).map(([what, count]) => ({
        what,
        value: String(count),
      })),
      { what: 'good requests that failed', value: '0' },
      ...percentiles(good.latencies),
      ...memoryFigures(memory, workers),
      { what: `stop by SIGTERM with ${isHostile ? 'all these clients' : 'the good clients alone'}`, value: `${ms} ms` },
    ]
  } catch (error) {
    throw new Error(`seed ${options.seed}, WORKERS=${workers}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  } finally {
    for (const client of [orderly, hostile]) client.process.kill()
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Publishes a release each second, and gives the memory that the server took in each, in bytes. */
async function switchReleases(server: Serving, releases: Releases, options: SoakOptions): Promise<number[]> {
  const memory: number[] = []
  const seconds = Math.max(9, shareOf(SECONDS, options))
  while (memory.length < seconds) {
    const next = sleep(1000, undefined, { signal: options.signal })
    await releases.publishNext()
    await next
    memory.push(server.residentMemory())
    if (memory.length % 30 === 0) options.report(`${memory.length} s, ${megabytes(memory.at(-1) ?? 0)}`)
  }
  return memory
}

/** Good requests that are being answered are answered whole, others are refused, and the server ends. */
async function stopServer(server: Serving, clients: readonly Clients[]): Promise<number> {
  for (const { process } of clients) process.send('expect-stop')
  const started = performance.now()
  server.signal('SIGTERM')
  const late = new AbortController()
  const end = await Promise.race([server.ended, sleep(LONGEST_STOP_MS, undefined, { signal: late.signal })])
  late.abort()
  const ms = Math.round(performance.now() - started)
  if (end === undefined) throw new Error(`the server did not stop in ${LONGEST_STOP_MS} ms`)
  if (end.code !== 0) throw new Error(`the server ended with ${end.code ?? end.signal}: ${server.complaints.at(-1)}`)
  return ms
}

interface Clients {
  process: ChildProcess
  stop(): Promise<ClientCounts>
}

function startClients(order: ClientOrder): Clients {
  const child = fork(join(import.meta.dirname, 'load-clients.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.send(order)
  // It says itself what it ended by.
  const ended = once(child, 'exit').then((): [{ result?: ClientCounts; error?: string }] => [{ error: 'they ended' }])
  return {
    process: child,
    async stop() {
      child.send('stop')
      const message = once(child, 'message') as Promise<[{ result?: ClientCounts; error?: string }]>
      const [answer] = await Promise.race([message, ended])
      if (answer.result === undefined) throw new Error(`${order.role} clients: ${answer.error}`)
      return answer.result
    },
  }
}

function percentiles(latencies: number[]): Figure[] {
  const sorted = latencies.toSorted((a, b) => a - b)
  return [0.5, 0.99].map((share) => ({
    what: `answered within, ${share * 100} % of the good requests`,
    value: `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)} ms`,
  }))
}

/**
 * The first third is for warming up: compiled code, memories that fill up to their bounds, connections. After it the
 * middle of the last third may lie above that of the second one by no more than the releases that are loaded beside each
 * other and what the collector of garbage leaves for later.
 */
function memoryFigures(memory: readonly number[], workers: number): Figure[] {
  const third = Math.floor(memory.length / 3)
  const [warm, last] = [memory.slice(third, 2 * third), memory.slice(2 * third)].map(median)
  if (warm === undefined || last === undefined) throw new Error('nothing was measured')
  if (last - warm > LARGEST_GROWTH_BYTES * workers) {
    throw new Error(`memory grew from ${megabytes(warm)} to ${megabytes(last)}`)
  }
  return [
    { what: 'memory, middle of the second and of the last third', value: `${megabytes(warm)}, ${megabytes(last)}` },
  ]
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}
