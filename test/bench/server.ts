/** Answers and starts of `tokenboard serve` in CPU time, each against its baseline. */
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { addDays, DATASET_START } from '../../pipeline/contract/utc-date.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { type ServerProcess, serveTokenboard, startNode } from '../support/server-process.ts'
import { startWorker } from '../support/worker.ts'
import { fullBuild } from './build.ts'
import type { Comparison, Measured, Suite } from './measure.ts'
import { cpuSeconds } from './process.ts'
import { DAYS } from './records.ts'
import type { Load, LoadResult } from './server/client.ts'

// A build refuses dates after tomorrow, so there are fewer days than have passed since the dataset began.
const DATASET = { ...DAYS, days: 600, recordsPerDay: 1500, models: 120, skew: 1 }
const CONNECTIONS = 16
const ROUND_MS = 1500
const RANKINGS = '/api/v1/datasets/rankings-daily'
const KEY = '/api/v1/key'
const GZIP = { 'accept-encoding': 'gzip' }
const CPU_TIME = { unit: 'µs of CPU an answer', higherIsBetter: false }

type Headers = Record<string, string>

/** Whether a server and its client can have a core each. */
const HAS_CORES = cpus().length > 1 && spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** Binds a process and all of its threads to one core. */
function onCore(pid: number | undefined, core: number): void {
  if (HAS_CORES && pid !== undefined) execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)])
}

async function onFirstCore<S extends ServerProcess>(starting: Promise<S>): Promise<S> {
  const server = await starting
  onCore(server.pid, 0)
  return server
}

export async function server(folder: string): Promise<Suite> {
  await fullBuild(DATASET, folder)
  const asOf = `${addDays(DATASET_START, DATASET.days)}T01:00:00Z`
  const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'served') }
  /** As a user runs it, with its log in a file; the first start of a store prints three lines, others one. */
  const startOurs = (lines: number) => {
    const settings = { AS_OF: asOf, LOG_LEVEL: 'info' }
    return onFirstCore(serveTokenboard(folders, settings, { lines, logFile: join(folder, 'log') }))
  }
  const startScript = (name: string, ...words: string[]) => {
    const { PATH, HOME } = process.env
    const script = join(import.meta.dirname, 'server', name)
    return onFirstCore(startNode([script, ...words], { PATH, HOME }, { logFile: join(folder, `${name}.log`) }))
  }
  const ours = await startOurs(3)
  const authorization = { authorization: `Bearer ${ours.key}` }
  const [plain, key] = await Promise.all([RANKINGS, KEY].map((path) => answer(ours, path, authorization)))
  const window = join(folder, 'window.json')
  await writeFile(window, plain?.body ?? '')
  const store = join(folders.dataDir, 'store.sqlite')
  const floor = await startScript('floor.ts', window, store, String(key?.body.length))
  // Kept between rounds, so that it is as warm as the servers.
  const client = startWorker<Load, LoadResult>(join(import.meta.dirname, 'server/client.ts'))
  onCore(client.pid, 1)

  const cpu =
    ({ pid, port }: ServerProcess, requests: string[], expected: Pick<Load, 'status' | 'length'>) =>
    async (): Promise<Measured> => {
      const before = cpuSeconds(pid)
      const load = { port, connections: CONNECTIONS, milliseconds: ROUND_MS, requests, ...expected }
      const { answers, seconds } = await client.call(load)
      const value = ((cpuSeconds(pid) - before) / answers) * 1e6
      return { value, details: { 'answers/s': answers / seconds } }
    }
  const ask = (path: string, headers: Headers = {}) => requestText(path, { ...authorization, ...headers })
  const startTime = async (starting: Promise<ServerProcess>): Promise<Measured> => {
    const started = await starting
    const cpu_s = cpuSeconds(started.pid)
    await stop(started)
    return { value: started.startMs, details: { cpu_s } }
  }
  const windows = randomWindows().map((query) => RANKINGS + query)
  const asked = windows.map((path) => ask(path, GZIP))
  const whole = { status: 200, length: plain?.body.length }
  const keyed = { status: 200, length: key?.body.length }
  const unchanged = { 'if-none-match': plain?.headers.etag ?? '' }
  const baselineName = 'bare node:http with the same promises'
  const comparisons: Comparison[] = [
    {
      ...{ ...CPU_TIME, name: 'default window, plain', required: 1.15, goal: 1.05, baselineName },
      ours: cpu(ours, [ask(RANKINGS)], whole),
      baseline: cpu(floor, [ask('/window')], whole),
      facts: async () => ({ bytes: plain?.body.length ?? 0 }),
    },
    {
      ...{ ...CPU_TIME, name: '304', required: 1.35, goal: 1.15, baselineName },
      ours: cpu(ours, [ask(RANKINGS, unchanged)], { status: 304 }),
      baseline: cpu(floor, [ask('/window', { 'if-none-match': '"x"' })], { status: 304 }),
    },
    {
      ...{ ...CPU_TIME, name: 'GET /key', required: 1.2, goal: 1.15, baselineName },
      ours: cpu(ours, [ask(KEY)], keyed),
      baseline: cpu(floor, [ask('/key')], keyed),
    },
    {
      // Its bar is a time, as no other program answers them.
      ...{ ...CPU_TIME, name: 'random windows, gzip', barOf: 'value', required: 60, goal: 45 },
      ours: cpu(ours, asked, { status: 200 }),
      facts: () => compareSizes(ours, authorization, windows.slice(0, 100)),
      limits: { 'share of gzip -6': 1 },
    },
    {
      ...{
        name: 'start until it listens',
        unit: 'ms',
        higherIsBetter: false,
        barOf: 'value',
        required: 600,
        goal: 450,
      },
      ours: () => startTime(startOurs(1)),
      baseline: () => startTime(startScript('empty-route.ts')),
      baselineName: 'an empty Fastify route',
    },
  ]
  return {
    comparisons,
    skipped: HAS_CORES ? [] : ['servers and client share the cores: there is no taskset, or only one core'],
    async close() {
      client.end()
      await Promise.all([ours, floor].map(stop))
    },
  }
}

async function stop(started: ServerProcess): Promise<void> {
  started.signal('SIGTERM')
  await started.ended
}

/** A request as bytes. */
function requestText(path: string, headers: Headers): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`
}

/** Windows of 1 to 61 dates, as long as the default one on average, anywhere in the dataset: too many to be cached. */
function randomWindows(): string[] {
  const random = seededRandom('windows', DATASET.seed)
  return Array.from({ length: 20_000 }, () => {
    const length = 1 + Math.floor(random() * 61)
    const first = Math.floor(random() * (DATASET.days - length))
    return `?start_date=${addDays(DATASET_START, first)}&end_date=${addDays(DATASET_START, first + length - 1)}`
  })
}

/** Bytes of gzip answers and of `gzip -6` of the same. Throws where they contain something else. */
async function compareSizes(server: ServerProcess, headers: Headers, paths: readonly string[]) {
  const sizes = { bytes: 0, 'bytes of gzip -6': 0 }
  for (const path of paths) {
    const plain = (await answer(server, path, headers)).body
    const packed = (await answer(server, path, { ...headers, ...GZIP })).body
    if (!gunzipSync(packed).equals(plain)) throw new Error(`${path} differs as gzip`)
    sizes.bytes += packed.length
    sizes['bytes of gzip -6'] += gzipSync(plain, { level: 6 }).length
  }
  return { ...sizes, 'share of gzip -6': sizes.bytes / sizes['bytes of gzip -6'] }
}

/** An answer as it is sent, still compressed. */
async function answer({ port }: ServerProcess, path: string, headers: Headers) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get({ port, host: '127.0.0.1', path, headers }, resolve).on('error', reject)
  const response = await promise
  return { headers: response.headers, body: await buffer(response) }
}
