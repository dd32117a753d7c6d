import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { type ServerProcess, serveTokenboard } from '../support/server-process.ts'
import { startWorker, type Worker } from '../support/worker.ts'
import { type Figure, type Folders, inFolder, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const SECONDS = 240
const IDLE_CONNECTIONS = 10_000
const LARGE_FILE_BYTES = 8 * 2 ** 20
const LARGEST_GROWTH_BYTES = 64 * 2 ** 20
/** A stop waits so long for clients that do not come to an end, and a process of its own some time to end. */
const LONGEST_STOP_MS = 20_000
const NOW = '2025-02-10T09:30:00Z'
/** The previous release is still read while the next one is loaded. */
const KEPT_RELEASES = 3

/** What clients are told. After `expect-stop` the server may refuse who is not being answered; `stop` asks for the counts. */
export type ClientCall = { port: number; key: string; seed: number; idle: number } | 'expect-stop' | 'stop'

export interface ClientCounts {
  counts: Record<string, number>
  /** Milliseconds of each good answer. */
  latencies: number[]
}

type Clients = Worker<ClientCall, ClientCounts | undefined>

export const part: SoakPart = {
  promise: 'good requests succeed, and memory stays flat, whatever other clients do and however often releases switch',
  run: (options) => inFolder((folders) => underLoad(folders, options)),
}

async function underLoad(folders: Folders, options: SoakOptions): Promise<Figure[]> {
  const { publicDir } = folders
  await mkdir(publicDir, { recursive: true })
  await writeFile(join(publicDir, 'large.bin'), Buffer.alloc(LARGE_FILE_BYTES, 'tokenboard'))
  const releases = [await publishNext(publicDir, [])]
  const server = await serveTokenboard(folders, { AS_OF: NOW })
  const idle = Math.min(IDLE_CONNECTIONS, shareOf(4 * IDLE_CONNECTIONS, options))
  const [orderly, hostile] = ['orderly', 'hostile'].map((role): Clients => {
    return startWorker(join(import.meta.dirname, `load-${role}.ts`))
  }) as [Clients, Clients]
  try {
    for (const clients of [orderly, hostile]) {
      await clients.call({ port: server.port, key: server.key, seed: options.seed, idle })
    }
    const memory = await switchReleases(server, publicDir, releases, options)
    options.report(`${releases.length} releases, now the stop`)
    const ms = await stopServer(server, [orderly, hostile])
    const good = await orderly.call('stop')
    const bad = await hostile.call('stop')
    if (server.log.length > 0) throw new Error(`the server logged ${server.log[0]}`)
    const counts = Object.entries({ ...good?.counts, ...bad?.counts })
    return [
      { what: 'seconds of load', value: String(memory.length) },
      { what: 'releases switched', value: String(releases.length - 1) },
      ...counts.map(([what, count]) => ({ what, value: String(count) })),
      { what: 'good requests that failed', value: '0' },
      ...percentiles(good?.latencies ?? []),
      memoryFigure(memory),
      { what: 'stop by SIGTERM with all these clients', value: `${ms} ms` },
    ]
  } finally {
    for (const clients of [orderly, hostile]) clients.end()
    await server.kill()
  }
}

/** The instant of the first of the releases that follow each other. */
const FIRST = Date.parse('2025-02-10T00:00:01Z')

/** The factor of all tokens of a release, by its name: every row says which release it is of. */
export function scaleOf(release: string): number {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(release) ?? []
  const iso = `${date.replace(/(....)(..)/, '$1-$2-')}T${time.replace(/(..)(..)/, '$1:$2:')}Z`
  return (Date.parse(iso) - FIRST) / 1000 + 1
}

async function publishNext(publicDir: string, releases: readonly string[]): Promise<string> {
  const asOf = new Date(FIRST + releases.length * 1000).toISOString().replace('.000', '')
  const name = await publish(publicDir, sampleRows({ days: 40, scale: releases.length + 1 }), { asOf })
  const old = releases.at(-KEPT_RELEASES)
  if (old !== undefined) await rm(join(publicDir, FOLDER, 'releases', old), { recursive: true })
  return name
}

/** Publishes a release each second, and gives the memory of the server in each, in bytes. */
async function switchReleases(
  server: ServerProcess,
  publicDir: string,
  releases: string[],
  options: SoakOptions,
): Promise<number[]> {
  const memory: number[] = []
  const seconds = Math.max(9, shareOf(SECONDS, options))
  while (memory.length < seconds) {
    const next = sleep(1000, undefined, { signal: options.signal })
    releases.push(await publishNext(publicDir, releases))
    await next
    memory.push(residentMemory(server.pid))
    if (memory.length % 30 === 0) options.report(`${memory.length} s, ${mebibytes(memory.at(-1) ?? 0)}`)
  }
  return memory
}

/** In bytes, as Linux says it in a file. */
function residentMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** Good requests that are being answered are answered whole, others are refused, and the server ends. */
async function stopServer(server: ServerProcess, clients: readonly Clients[]): Promise<number> {
  for (const each of clients) await each.call('expect-stop')
  const started = performance.now()
  server.signal('SIGTERM')
  const late = new AbortController()
  const end = await Promise.race([server.ended, sleep(LONGEST_STOP_MS, undefined, { signal: late.signal })])
  late.abort()
  if (end === undefined) throw new Error(`the server did not stop in ${LONGEST_STOP_MS} ms`)
  if (end.code !== 0) throw new Error(`the server ended with ${end.code ?? end.signal}: ${server.log.at(-1)}`)
  return Math.round(performance.now() - started)
}

function percentiles(latencies: readonly number[]): Figure[] {
  const sorted = latencies.toSorted((a, b) => a - b)
  return [0.5, 0.99].map((share) => ({
    what: `answered within, ${share * 100} % of the good requests`,
    value: `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)} ms`,
  }))
}

/**
 * The first third is for warming up: compiled code, memories that fill up to their bounds, connections. After it the
 * median of the last third may exceed that of the second one only by the releases that are loaded beside each other and
 * by what the garbage collector leaves for later.
 */
function memoryFigure(memory: readonly number[]): Figure {
  const third = Math.floor(memory.length / 3)
  const [warm, last] = [median(memory.slice(third, 2 * third)), median(memory.slice(2 * third))]
  const value = `${mebibytes(warm)}, ${mebibytes(last)}`
  if (!(last - warm <= LARGEST_GROWTH_BYTES)) throw new Error(`memory grew: ${value}`)
  return { what: 'memory, middle of the second and of the last third', value }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}
