import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { addDays, DATASET_START, type UtcDate } from '../../../pipeline/contract/utc-date.ts'
import { seededRandom } from '../../../pipeline/raw/sample/random.ts'
import type { Comparison, Measured } from '../comparison.ts'
import type { Suite } from '../suite.ts'
import type { LoadResult } from './client.ts'
import { cpuSeconds, HAS_CORES } from './cores.ts'
import { type BuiltDataset, builtDataset } from './dataset.ts'
import { loadGenerator } from './load.ts'
import { nginx, nginxProblem, type RunningServer, script, tokenboard } from './servers.ts'

// A build refuses dates after tomorrow, so there are fewer days than have passed since the dataset began.
const DATASET = { seed: 1, days: 600, models: 120 }
const CONNECTIONS = 16
const ROUND_MS = 1500
/** Under full load a release takes some seconds to be loaded, in a thread that gives way to answers. */
const SWITCH_ROUND_MS = 15_000
const SWITCH_EVERY_MS = 1000
const RANKINGS = '/api/v1/datasets/rankings-daily'
const PAGE = 'models.html'
const FOLDER = 'datasets/rankings-daily/v1'

/** Rows 5 to 9 of the requirements, each against its baseline. */
export async function openSuite(): Promise<Suite> {
  const bench = await setUp()
  const problem = nginxProblem()
  const comparisons =
    problem === undefined ? [...(await againstNginx(bench)), ...againstNode(bench)] : againstNode(bench)
  return {
    comparisons,
    skipped: [
      ...(problem === undefined ? [] : [`rows 5 to 7: ${problem}`]),
      ...(HAS_CORES ? [] : ['servers and client share the cores: there is no taskset, or one core alone']),
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
  const start = async (starting: Promise<RunningServer>) => {
    const server = await starting
    servers.push(server)
    return server
  }
  const environment = environmentOf(folder, publicDir, dataset)
  const ours = await start(tokenboard(folder, environment, 3))
  const key = ours.printed[1]?.replace('key ', '') ?? ''
  const generator = loadGenerator()

  return {
    folder,
    publicDir,
    environment,
    ours,
    key,
    start,
    empty: await start(script('empty-route.ts', folder)),
    ask: (path: string, headers: Record<string, string> = {}) =>
      requestText(path, { authorization: `Bearer ${key}`, ...headers }),
    async load(server: RunningServer, requests: string[], expected: Expected, milliseconds = ROUND_MS) {
      const before = cpuSeconds(server.pid)
      const result = await generator.run({
        port: server.port,
        connections: CONNECTIONS,
        milliseconds,
        requests,
        ...expected,
      })
      return { ...result, cpuMicroseconds: ((cpuSeconds(server.pid) - before) / result.answers) * 1e6 }
    },
    async close() {
      generator.close()
      for (const server of servers) await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

interface Expected {
  status: number
  length?: number
}

function environmentOf(folder: string, publicDir: string, { asOf }: BuiltDataset): Record<string, string> {
  return { PUBLIC_DIR: publicDir, DATA_DIR: join(folder, 'data'), AS_OF: asOf }
}

function requestText(path: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`
}

async function againstNginx(bench: Bench): Promise<Comparison[]> {
  const { ours, start, load, folder, ask } = bench
  const plain = await answer(bench, RANKINGS)
  const root = join(folder, 'www')
  await mkdir(root)
  await writeFile(join(root, 'window.json'), plain)
  await writeFile(join(root, 'window.json.gz'), gzipSync(plain))
  const files = await start(nginx(folder, root))
  const bare = await start(script('bare-http.ts', folder, join(root, 'window.json')))
  const etag = await tagOf({ ...bench, ours: files }, '/window.json')
  const gzip = { 'accept-encoding': 'gzip' }
  const windows = randomWindows().map((query) => RANKINGS + query)
  const filePlain = async () =>
    rate(await load(files, [requestText('/window.json', {})], { status: 200, length: plain.length }))
  const ownPlain = async () => rate(await load(ours, [ask(RANKINGS)], { status: 200, length: plain.length }))
  const ownTag = await tagOf(bench, RANKINGS)

  return [
    {
      name: 'default window, plain',
      row: 5,
      required: 0.6,
      goal: 0.8,
      unit: 'answers/s',
      higherIsBetter: true,
      ours: ownPlain,
      baseline: filePlain,
      baselineName: 'nginx, the same bytes as a file',
      facts: async () => ({ bytes: plain.length }),
    },
    {
      name: 'default window, plain',
      unit: 'answers/s',
      higherIsBetter: true,
      ours: ownPlain,
      baseline: async () => rate(await load(bare, [requestText('/', {})], { status: 200, length: plain.length })),
      baselineName: 'bare node:http, the same bytes from memory',
    },
    {
      name: 'random windows, gzip',
      row: 6,
      required: 0.25,
      goal: 0.4,
      unit: 'answers/s',
      higherIsBetter: true,
      ours: async () =>
        rate(
          await load(
            ours,
            windows.map((path) => ask(path, gzip)),
            { status: 200 },
          ),
        ),
      baseline: async () => rate(await load(files, [requestText('/window.json', gzip)], { status: 200 })),
      baselineName: 'nginx gzip_static, the default window',
      facts: () => compareSizes(bench, windows.slice(0, 100)),
      limits: { 'share of gzip -6': 1 },
    },
    {
      name: '304',
      row: 7,
      required: 0.35,
      goal: 0.5,
      unit: 'answers/s',
      higherIsBetter: true,
      ours: async () => rate(await load(ours, [ask(RANKINGS, { 'if-none-match': ownTag })], { status: 304 })),
      baseline: async () =>
        rate(await load(files, [requestText('/window.json', { 'if-none-match': etag })], { status: 304 })),
      baselineName: 'nginx 304',
    },
    ...(await ofSmallPage(bench, files, root)),
  ]
}

/** A page of the site, which both have as a file of the same bytes. */
async function ofSmallPage(bench: Bench, files: RunningServer, root: string): Promise<Comparison[]> {
  const { ours, load, publicDir } = bench
  await copyFile(join(publicDir, PAGE), join(root, PAGE))
  const { size } = await stat(join(root, PAGE))
  const whole = async (server: RunningServer) =>
    rate(await load(server, [requestText(`/${PAGE}`, {})], { status: 200, length: size }))
  const unchanged = async (server: RunningServer, tag: string) =>
    rate(await load(server, [requestText(`/${PAGE}`, { 'if-none-match': tag })], { status: 304 }))
  const [ownTag, tag] = [await tagOf(bench, `/${PAGE}`), await tagOf({ ...bench, ours: files }, `/${PAGE}`)]
  const common = { unit: 'answers/s', higherIsBetter: true }
  return [
    {
      ...common,
      name: `page of ${Math.round(size / 1024)} KiB`,
      ours: () => whole(ours),
      baseline: () => whole(files),
      baselineName: 'nginx, the same file',
    },
    {
      ...common,
      name: 'page, 304',
      ours: () => unchanged(ours, ownTag),
      baseline: () => unchanged(files, tag),
      baselineName: 'nginx 304',
    },
  ]
}

function againstNode(bench: Bench): Comparison[] {
  const { ours, empty, load, ask } = bench
  const emptyRoute = async () => rate(await load(empty, [requestText('/', {})], { status: 200 }))
  const common = {
    unit: 'answers/s',
    higherIsBetter: true,
    baseline: emptyRoute,
    baselineName: 'an empty Fastify route',
  }
  const reads = [
    ['GET /key', '/api/v1/key'],
    ['GET /presets/{slug}', '/api/v1/presets/bench'],
    ['GET /presets/{slug}/versions/{version}', '/api/v1/presets/bench/versions/1'],
  ] as const
  let hasPreset = false
  return [
    ...reads.map(([name, path]) => ({
      ...common,
      name,
      row: 8,
      required: 0.5,
      goal: 0.8,
      async ours() {
        if (!hasPreset) await makePreset(bench)
        hasPreset = true
        return rate(await load(ours, [ask(path)], { status: 200 }))
      },
    })),
    ...ofSwitches(bench),
    {
      name: 'start until it listens',
      unit: 'ms',
      higherIsBetter: false,
      ours: async () => await startTime(tokenboard(bench.folder, bench.environment, 1)),
      baseline: async () => await startTime(script('empty-route.ts', bench.folder)),
      baselineName: 'an empty Fastify route',
    },
  ]
}

/** The default window while the current release changes each second, against the same load without. */
function ofSwitches(bench: Bench): Comparison[] {
  const { ours, load, ask } = bench
  const run = () => load(ours, [ask(RANKINGS)], { status: 200 }, SWITCH_ROUND_MS)
  const common = { unit: 'ms', higherIsBetter: false, baselineName: 'without' }
  return [
    {
      ...common,
      name: 'p99 of the default window during release switches',
      row: 9,
      required: 2,
      goal: 1.2,
      ours: async () => latency(await whileSwitching(bench, run), 'p99'),
      baseline: async () => latency(await run(), 'p99'),
    },
    {
      ...common,
      name: 'slowest answer during release switches',
      ours: async () => latency(await whileSwitching(bench, run), 'slowest'),
      baseline: async () => latency(await run(), 'slowest'),
    },
  ]
}

async function startTime(starting: Promise<RunningServer>): Promise<Measured> {
  const server = await starting
  await server.close()
  return { value: server.startMilliseconds }
}

function rate({ answers, seconds, cpuMicroseconds }: LoadResult & { cpuMicroseconds: number }): Measured {
  return { value: answers / seconds, details: { 'CPU µs an answer': cpuMicroseconds } }
}

function latency({ p50, p99, slowest }: LoadResult, counts: 'p99' | 'slowest'): Measured {
  return { value: { p99, slowest }[counts], details: { 'p50 ms': p50, 'slowest ms': slowest } }
}

/** Windows of 1 to 61 dates, as long as the default one on average, anywhere in the dataset; far more than anybody remembers. */
function randomWindows(): string[] {
  const random = seededRandom('windows', DATASET.seed)
  const date = (day: number): UtcDate => addDays(DATASET_START, day)
  return Array.from({ length: 20_000 }, () => {
    const length = 1 + Math.floor(random() * 61)
    const first = Math.floor(random() * (DATASET.days - length))
    return `?start_date=${date(first)}&end_date=${date(first + length - 1)}`
  })
}

/** Bytes of gzip answers and of `gzip -6` of the same, and that both hold the same. */
async function compareSizes(bench: Bench, paths: string[]): Promise<Record<string, number>> {
  const sizes = { bytes: 0, 'bytes of gzip -6': 0 }
  for (const path of paths) {
    const plain = await answer(bench, path)
    const packed = await answer(bench, path, { 'accept-encoding': 'gzip' })
    if (!gunzipSync(packed).equals(plain)) throw new Error(`${path} differs as gzip`)
    sizes.bytes += packed.length
    sizes['bytes of gzip -6'] += gzipSync(plain, { level: 6 }).length
  }
  return { ...sizes, 'share of gzip -6': sizes.bytes / sizes['bytes of gzip -6'] }
}

async function makePreset({ ours, key }: Bench): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${ours.port}/api/v1/presets/bench/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'vendor/model',
      max_tokens: 100,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  })
  if (answer.status !== 200) throw new Error(`no preset: ${await answer.text()}`)
}

/** Runs `work` while the pointer goes to and fro between the two releases. Throws where both were not served. */
async function whileSwitching<T>(bench: Bench, work: () => Promise<T>): Promise<T> {
  const { publicDir } = bench
  const { releases } = JSON.parse(await readFile(join(publicDir, FOLDER, 'releases/index.json'), 'utf8'))
  let switches = 0
  const pointAtNext = async () => {
    const path = join(publicDir, FOLDER, 'latest.json')
    await writeFile(`${path}.new`, JSON.stringify(releases[switches++ % 2]))
    await rename(`${path}.new`, path)
  }
  const served = new Set<string | null>()
  const look = async () => served.add((await headersOf(bench, RANKINGS)).get('x-content-hash'))
  const timers = [
    setInterval(() => void pointAtNext(), SWITCH_EVERY_MS),
    setInterval(() => void look(), SWITCH_EVERY_MS / 4),
  ]
  try {
    const result = await work()
    if (served.size < 2) throw new Error('the release that was served did not change')
    return result
  } finally {
    timers.forEach(clearInterval)
  }
}

async function tagOf(bench: Pick<Bench, 'ours' | 'key'>, path: string): Promise<string> {
  return (await headersOf(bench, path)).get('etag') ?? ''
}

async function headersOf({ ours, key }: Pick<Bench, 'ours' | 'key'>, path: string): Promise<Headers> {
  const { headers } = await fetch(`http://127.0.0.1:${ours.port}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' },
  })
  return headers
}

/** The bytes of an answer as they are sent, still compressed. */
async function answer({ ours, key }: Bench, path: string, headers: Record<string, string> = {}): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  request(
    { port: ours.port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${key}`, ...headers } },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks)))
      response.on('error', reject)
    },
  )
    .on('error', reject)
    .end()
  return await promise
}
