import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { TOP_MODELS } from '../../../pipeline/contract/ranking.ts'
import { addDays, DATASET_START } from '../../../pipeline/contract/utc-date.ts'
import { seededRandom } from '../../../pipeline/raw/sample/random.ts'
import { startWorker } from '../../support/worker.ts'
import type { Comparison, Measured, Suite } from '../comparison.ts'
import { datasetteWindow, findPeers } from '../peers/peers.ts'
import { cpuSeconds } from '../proc.ts'
import type { Load, LoadResult } from './client.ts'
import { builtDataset } from './dataset.ts'
import { datasette, HAS_CORES, nginx, nginxProblem, onCore, type RunningServer, script, tokenboard } from './servers.ts'

// A build refuses dates after tomorrow, so there are fewer days than have passed since the dataset began.
const DATASET = { seed: 1, days: 600, models: 120 }
const CONNECTIONS = 16
const DATASETTE_ANSWERS = 50
const ROUND_MS = 1500
/** Under full load a release takes some seconds to be loaded, in a thread that gives way to answers. */
const SWITCH_ROUND_MS = 15_000
const SWITCH_EVERY_MS = 1000
const RANKINGS = '/api/v1/datasets/rankings-daily'
const KEY = '/api/v1/key'
const PAGE = 'models.html'
const MODEL = 'vendor0/model-0-2025'
const FOLDER = 'datasets/rankings-daily/v1'
const GZIP = { 'accept-encoding': 'gzip' }
const DURATION = { unit: 'ms', higherIsBetter: false }
const CPU_TIME = { unit: 'µs of CPU an answer', higherIsBetter: false }

type Headers = Record<string, string>

/** Answers and starts in CPU time, each against its baseline, and questions to the ranking against plain windows. */
export async function openSuite(): Promise<Suite> {
  const bench = await setUp()
  const problem = nginxProblem()
  const nginxComparisons = problem === undefined ? await againstNginx(bench) : []
  const peers = await findPeers()
  return {
    comparisons: [
      ...(await againstFloor(bench)),
      ...(await againstNode(bench)),
      ...(await againstPlainWindows(bench)),
      ...nginxComparisons,
      ...('python' in peers ? [await againstDatasette(bench, peers.python)] : []),
    ],
    skipped: [
      ...('reason' in peers ? [`Datasette: ${peers.reason}`] : []),
      ...(problem === undefined ? [] : [`nginx: ${problem}`]),
      ...(HAS_CORES ? [] : ['servers and client share the cores: there is no taskset, or only one core']),
    ],
    close: bench.close,
  }
}

type Bench = Awaited<ReturnType<typeof setUp>>

async function setUp() {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-run-'))
  const dataset = await builtDataset(DATASET)
  const publicDir = join(folder, 'public')
  await cp(dataset.publicDir, publicDir, { recursive: true, verbatimSymlinks: true })
  const servers: RunningServer[] = []
  const start = async <S extends RunningServer>(starting: Promise<S>): Promise<S> => {
    const server = await starting
    servers.push(server)
    return server
  }
  const startOurs = (lines: number) => tokenboard(folder, publicDir, dataset.asOf, lines)
  const ours = await start(startOurs(3))
  const authorization = { authorization: `Bearer ${ours.key}` }
  // Kept between rounds, so that it is as warm as the servers.
  const client = startWorker<Load, LoadResult>(join(import.meta.dirname, 'client.ts'))
  onCore(client.pid, 'client')

  const load = async (server: RunningServer, requests: string[], expected: Expected, milliseconds = ROUND_MS) => {
    const before = cpuSeconds(server.pid)
    const result = await client.call({
      ...{ port: server.port, connections: CONNECTIONS, milliseconds, requests },
      ...expected,
    })
    return { ...result, cpuMicroseconds: ((cpuSeconds(server.pid) - before) / result.answers) * 1e6 }
  }
  return {
    folder,
    publicDir,
    ours,
    start,
    startOurs,
    load,
    authorization,
    /** A measurement of the CPU time of an answer. */
    cpu: (server: RunningServer, requests: string[], expected: Expected) => async (): Promise<Measured> => {
      const { answers, seconds, cpuMicroseconds } = await load(server, requests, expected)
      return { value: cpuMicroseconds, details: { 'answers/s': answers / seconds } }
    },
    /** A request with a key, as bytes. */
    ask: (path: string, headers: Headers = {}) => requestText(path, { ...authorization, ...headers }),
    async close() {
      client.end()
      for (const server of servers) await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

interface Expected {
  status: number
  length?: number
}

function requestText(path: string, headers: Headers = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`
}

/** What most requests ask for, against the same promises kept by a small program of bare `node:http` (`floor.ts`). */
async function againstFloor(bench: Bench): Promise<Comparison[]> {
  const { ours, start, cpu, ask, folder, authorization } = bench
  const plain = (await answer(ours, RANKINGS, authorization)).body
  const window = join(folder, 'window.json')
  await writeFile(window, plain)
  const key = (await answer(ours, KEY, authorization)).body
  const store = join(folder, 'data/store.sqlite')
  const floor = await start(script('floor.ts', folder, window, store, String(key.length)))
  const baselineName = 'bare node:http with the same promises'
  const whole = { status: 200, length: plain.length }
  const tag = await tagOf(ours, RANKINGS, authorization)
  return [
    {
      ...{ ...CPU_TIME, name: 'default window, plain', required: 1.15, goal: 1.05, baselineName },
      ours: cpu(ours, [ask(RANKINGS)], whole),
      baseline: cpu(floor, [ask('/window')], whole),
      facts: async () => ({ bytes: plain.length }),
    },
    {
      ...{ ...CPU_TIME, name: '304', required: 1.35, goal: 1.15, baselineName },
      ours: cpu(ours, [ask(RANKINGS, tag)], { status: 304 }),
      baseline: cpu(floor, [ask('/window', { 'if-none-match': '"x"' })], { status: 304 }),
    },
    {
      ...{ ...CPU_TIME, name: 'GET /key', required: 1.2, goal: 1.15, baselineName },
      ours: cpu(ours, [ask(KEY)], { status: 200, length: key.length }),
      baseline: cpu(floor, [ask('/key')], { status: 200, length: key.length }),
    },
    randomWindowsAlone(bench),
  ]
}

/** Their bar is a time, as no other program answers them. */
function randomWindowsAlone({ ours, cpu, ask, authorization }: Bench): Comparison {
  const windows = randomWindows().map((query) => RANKINGS + query)
  const requests = windows.map((path) => ask(path, GZIP))
  return {
    ...{ ...CPU_TIME, name: 'random windows, gzip', barOf: 'value', required: 60, goal: 45 },
    ours: cpu(ours, requests, { status: 200 }),
    facts: () => compareSizes(ours, authorization, windows.slice(0, 100)),
    limits: { 'share of gzip -6': 1 },
  }
}

/** Without bars: nginx hands a file to the system, for which Node has no call, and knows neither keys nor windows. */
async function againstNginx({ ours, start, cpu, ask, folder, publicDir, authorization }: Bench): Promise<Comparison[]> {
  const plain = (await answer(ours, RANKINGS, authorization)).body
  const root = join(folder, 'www')
  await mkdir(root)
  await writeFile(join(root, 'window.json'), plain)
  await copyFile(join(publicDir, PAGE), join(root, PAGE))
  const files = await start(nginx(folder, root))
  const whole = { status: 200, length: plain.length }
  const page = { status: 200, length: (await stat(join(root, PAGE))).size }
  const unchanged = { status: 304 }
  const [ownTag, fileTag] = [await tagOf(ours, RANKINGS, authorization), await tagOf(files, '/window.json')]
  const [ownPageTag, pageTag] = [await tagOf(ours, `/${PAGE}`), await tagOf(files, `/${PAGE}`)]
  return [
    {
      ...{ ...CPU_TIME, name: 'default window, plain', baselineName: 'nginx, the same bytes as a file' },
      ours: cpu(ours, [ask(RANKINGS)], whole),
      baseline: cpu(files, [requestText('/window.json')], whole),
    },
    {
      ...{ ...CPU_TIME, name: '304', baselineName: 'nginx 304' },
      ours: cpu(ours, [ask(RANKINGS, ownTag)], unchanged),
      baseline: cpu(files, [requestText('/window.json', fileTag)], unchanged),
    },
    {
      ...{ ...CPU_TIME, name: `page of ${Math.round(page.length / 1024)} KiB`, baselineName: 'nginx, the same file' },
      ours: cpu(ours, [requestText(`/${PAGE}`)], page),
      baseline: cpu(files, [requestText(`/${PAGE}`)], page),
    },
    {
      ...{ ...CPU_TIME, name: 'page, 304', baselineName: 'nginx 304' },
      ours: cpu(ours, [requestText(`/${PAGE}`, ownPageTag)], unchanged),
      baseline: cpu(files, [requestText(`/${PAGE}`, pageTag)], unchanged),
    },
  ]
}

/** Without a bar: Datasette asks SQLite for each answer, and knows no keys. Its answers are chunked, so `fetch` reads them. */
async function againstDatasette({ ours, start, cpu, ask, folder, publicDir, authorization }: Bench, python: string) {
  const { data } = JSON.parse((await answer(ours, RANKINGS, authorization)).body.toString())
  const server = await start(datasette(python, publicDir, folder))
  const url = `http://127.0.0.1:${server.port}${datasetteWindow(data[0].date, data.at(-1).date)}`
  const askOnce = async () => {
    const { rows } = (await (await fetch(url)).json()) as { rows: unknown[] }
    if (rows.length !== data.length) throw new Error(`${rows.length} rows instead of ${data.length}`)
  }
  const baseline = async (): Promise<Measured> => {
    const [before, began] = [cpuSeconds(server.pid), performance.now()]
    for (let asked = 0; asked < DATASETTE_ANSWERS; asked += 1) await askOnce()
    const cpuMicroseconds = ((cpuSeconds(server.pid) - before) / DATASETTE_ANSWERS) * 1e6
    const seconds = (performance.now() - began) / 1000
    return { value: cpuMicroseconds, details: { 'answers/s': DATASETTE_ANSWERS / seconds } }
  }
  return {
    ...{ ...CPU_TIME, name: 'default window, plain', baselineName: 'Datasette, the same rows', baseline },
    ours: cpu(ours, [ask(RANKINGS)], { status: 200 }),
  }
}

async function againstNode(bench: Bench): Promise<Comparison[]> {
  const { ours, start, load, cpu, ask, folder, startOurs } = bench
  await makePreset(bench)
  const empty = await start(script('empty-route.ts', folder))
  const reads = {
    'GET /presets/{slug}': '/api/v1/presets/bench',
    'GET /presets/{slug}/versions/{version}': '/api/v1/presets/bench/versions/1',
  }
  const startTime = async (starting: Promise<RunningServer>): Promise<Measured> => {
    const server = await starting
    const cpu_s = cpuSeconds(server.pid)
    await server.close()
    return { value: server.startMs, details: { cpu_s } }
  }
  const run = () => load(ours, [ask(RANKINGS)], { status: 200 }, SWITCH_ROUND_MS)
  /** The default window while the current release changes each second, against the same load without. */
  const duringSwitches = (name: string, figure: 'p99' | 'slowest') => {
    const latency = (result: LoadResult): Measured => {
      return { value: result[figure], details: { 'p50 ms': result.p50, 'slowest ms': result.slowest } }
    }
    return {
      ...{ ...DURATION, name, baselineName: 'without' },
      ours: async () => latency(await whileSwitching(bench, run)),
      baseline: async () => latency(await run()),
    }
  }
  const baselineName = 'an empty Fastify route'
  return [
    ...Object.entries(reads).map(([name, path]) => ({
      ...{ ...CPU_TIME, name, baselineName },
      ours: cpu(ours, [ask(path)], { status: 200 }),
      baseline: cpu(empty, [requestText('/')], { status: 200 }),
    })),
    {
      ...{ required: 2, goal: 1.2 },
      ...duringSwitches('p99 of the default window during release switches', 'p99'),
    },
    duringSwitches('slowest answer during release switches', 'slowest'),
    {
      ...{ ...DURATION, name: 'start until it listens', barOf: 'value', required: 600, goal: 450, baselineName },
      ours: () => startTime(startOurs(1)),
      baseline: () => startTime(script('empty-route.ts', folder)),
    },
  ]
}

/** Questions, each against the plain window that has as many rows. */
async function againstPlainWindows({ ours, cpu, ask, authorization, publicDir }: Bench): Promise<Comparison[]> {
  const last = (dates: number) => {
    const end = DATASET.days - 1
    return `start_date=${addDays(DATASET_START, end - dates + 1)}&end_date=${addDays(DATASET_START, end)}`
  }
  const cpuTime = (query: string) => cpu(ours, [ask(`${RANKINGS}?${query}`)], { status: 200 })
  const sizesOf = async (query: string) => {
    const { body } = await answer(ours, `${RANKINGS}?${query}`, authorization)
    return { rows: JSON.parse(body.toString()).data.length as number, bytes: body.length }
  }
  const rowsOfDate = TOP_MODELS + 1
  const [older] = await releasesOf(publicDir)
  const questions = {
    // From the history.
    'as_of=…': [`as_of=${older?.release}&${last(31)}`, last(31), 2],
    // Any 211 dates are in 31 weeks.
    'period=week': [`period=week&${last(211)}`, last(31), 1.5],
    // The model with most tokens is named on each date.
    'model=…': [`model=${MODEL}&${last(10 * rowsOfDate)}`, last(10), 1.5],
    'fields=…': [`fields=date,model_permaslug,rank,share&${last(31)}`, last(31), 1.5],
  } as const
  return Object.entries(questions).map(([name, [query, plain, required]]) => ({
    ...{ ...CPU_TIME, name, required },
    ours: cpuTime(query),
    baseline: cpuTime(plain),
    baselineName: 'a plain window of as many rows',
    facts: async () => {
      const [{ rows, bytes }, of] = [await sizesOf(query), await sizesOf(plain)]
      if (rows !== of.rows) throw new Error(`${query} has ${rows} rows, and ${plain} has ${of.rows}`)
      return { rows, bytes, 'bytes of the baseline': of.bytes }
    },
  }))
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
async function compareSizes(server: RunningServer, headers: Headers, paths: readonly string[]) {
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

async function makePreset({ ours, authorization }: Bench): Promise<void> {
  const content = { model: 'vendor/model', max_tokens: 100, system: 'Be brief.' }
  const answer = await fetch(`${ours.url}/api/v1/presets/bench/messages`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ ...content, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  if (answer.status !== 200) throw new Error(`no preset: ${await answer.text()}`)
}

/** Runs `work` while the pointer goes to and fro between the two releases. Throws unless both were served. */
async function whileSwitching<T>({ publicDir, ours, authorization }: Bench, work: () => Promise<T>): Promise<T> {
  const releases = await releasesOf(publicDir)
  const path = join(publicDir, FOLDER, 'latest.json')
  let switches = 0
  let pointing = Promise.resolve()
  const write = async (release: object | undefined) => {
    await writeFile(`${path}.new`, JSON.stringify(release))
    await rename(`${path}.new`, path)
  }
  const pointAt = (release: object | undefined) => {
    pointing = pointing.then(() => write(release))
    return pointing
  }
  const pointAtNext = () => pointAt(releases[switches++ % 2])
  const served = new Set<unknown>()
  const look = async () => served.add((await answer(ours, RANKINGS, authorization)).headers['x-content-hash'])
  const timers = [
    setInterval(() => void pointAtNext(), SWITCH_EVERY_MS),
    setInterval(() => void look(), SWITCH_EVERY_MS / 4),
  ]
  try {
    const result = await work()
    if (served.size < 2) throw new Error('the served release did not change')
    return result
  } finally {
    timers.forEach(clearInterval)
    await pointAt(releases.at(-1))
  }
}

/** The entries of the two releases, the older one first. */
async function releasesOf(publicDir: string): Promise<{ release: string }[]> {
  return JSON.parse(await readFile(join(publicDir, FOLDER, 'releases/index.json'), 'utf8')).releases
}

/** The header that asks whether what a server has there is still the same. */
async function tagOf(server: RunningServer, path: string, headers: Headers = {}): Promise<Headers> {
  return { 'if-none-match': (await answer(server, path, headers)).headers.etag ?? '' }
}

/** An answer as it is sent, still compressed. */
async function answer({ port }: RunningServer, path: string, headers: Headers = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get({ port, host: '127.0.0.1', path, headers }, resolve).on('error', reject)
  const response = await promise
  return { headers: response.headers, body: await buffer(response) }
}
