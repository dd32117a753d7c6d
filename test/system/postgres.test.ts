/** Servers with one store on a real PostgreSQL between them. Skipped, loudly, where there is none. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ListPresetVersionsResponse, PresetResponse } from '../../server/schemas/preset.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { temporaryFolder } from '../support/app.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { PRESETS } from '../support/presets.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { serveTokenboard } from '../support/server-process.ts'
import { testStore, withClient } from '../support/store.ts'
import { noPostgres, PASSWORD, type Postgres, startPostgres } from './postgres.ts'

const KEY = '/api/v1/key'

/** What the API answers, and all tests of what it keeps in the store. */
const STORE_TESTS = [
  ...['exchanges', 'usage-file', 'commands/key-manage'],
  ...['keys', 'presets', 'usage', 'embeddings-models'].map((name) => `store/${name}`),
].map((name) => `test/server/${name}.test.ts`)

if (noPostgres !== undefined) process.stderr.write(`SKIPPED, NOT PROVED: ${noPostgres}\n`)

describe.skipIf(noPostgres !== undefined)('servers with a store on PostgreSQL', () => {
  let postgres: Postgres
  beforeAll(async () => {
    // What it keeps need not outlive the machine.
    postgres = await startPostgres('fsync=off', 'autovacuum=off')
  })
  afterAll(() => postgres?.remove())

  test('that start at once on an empty database are both ready, and make one first key', async () => {
    const { servers, key } = await startServers(await postgres.newDatabase(), 2, { LOG_LEVEL: 'info' })
    expect(servers.flatMap(({ lines }) => lines.filter((line) => line.startsWith('key ')))).toHaveLength(1)
    for (const { url, log } of servers) {
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      expect(await statusOf(url, key)).toBe(200)
      expect(log.filter((line) => line.includes('rate limits count in each process'))).toHaveLength(1)
    }
  })

  test('lose no acknowledged version and store none twice, with writers at two servers and restarts in between', async () => {
    const { servers, key } = await startServers(await postgres.newDatabase(), 2)
    const writers = servers.flatMap(({ url }, server) =>
      Array.from({ length: 4 }, (_, client) => startWriter(url, key, `${server}-${client}`)),
    )
    const acknowledged = () => writers.flatMap((writer) => writer.acknowledged)
    const refusals = () => new Set(writers.flatMap((writer) => writer.refusals))
    // Both modes, and again until some writer has met a restart.
    for (let round = 0; round < 2 || !refusals().has(503); round++) {
      const mode = round % 2 === 0 ? 'immediate' : 'fast'
      const before = acknowledged().length
      await expect.poll(() => acknowledged().length).toBeGreaterThan(before + 50)
      await postgres.restart(mode)
      const after = acknowledged().length
      await expect.poll(() => acknowledged().length).toBeGreaterThan(after + 50)
    }
    await Promise.all(writers.map((writer) => writer.stop()))

    // 409 and 503 are the only other answers.
    expect([...refusals()].filter((status) => status !== 409 && status !== 503)).toEqual([])

    const stored = []
    for (const slug of SLUGS) {
      const versions = await versionsOf(servers[0]?.url ?? '', key, slug)
      expect(versions.map(({ version }) => version)).toEqual(versions.map((_, at) => at + 1))
      stored.push(...versions)
    }
    expect(stored).toEqual(expect.arrayContaining(acknowledged()))
    expect(new Set(stored.map(({ mark }) => mark)).size).toBe(stored.length)
  })

  test('are not ready without the database, answer 503 to what needs it, and reconnect by themselves', async () => {
    const { servers, key } = await startServers(await postgres.newDatabase(), 1)
    const { url: address = '' } = servers[0] ?? {}
    await postgres.stop()
    const away = await fetch(`${address}/readyz`)
    expect([away.status, await away.json()]).toMatchObject([503, { error: { metadata: { store: 'no answer' } } }])
    const answer = await fetch(address + KEY, { headers: { authorization: `Bearer ${key}` } })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await answer.text()).not.toMatch(/hunter2|127\.0\.0\.1/)
    // What needs no store is served.
    expect((await fetch(`${address}/datasets/rankings-daily/v1/latest.json`)).status).toBe(200)
    await postgres.start()
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    expect(await statusOf(address, key)).toBe(200)
    expect(servers[0]?.log.join()).not.toContain(PASSWORD)
  })

  test('refuse a key as soon as it was revoked elsewhere', async () => {
    const url = await postgres.newDatabase()
    const { servers } = await startServers(url, 2)
    const keys = apiKeys(await testStore(url))
    for (let round = 0; round < 10; round++) {
      const { secret, key } = await keys.create({}, new Date())
      const ask = () => Promise.all(servers.map((server) => statusOf(server.url, secret)))
      expect(await ask()).toEqual([200, 200])
      await keys.revoke(key.id, new Date())
      expect(await ask()).toEqual([401, 401])
    }
  })

  test('do not start without the database, and say why without the password', async () => {
    const env = { DATABASE_URL: `postgres://ada:${PASSWORD}@127.0.0.1:1/db`, DATA_DIR: await temporaryFolder() }
    const { PATH = '' } = process.env
    const starting = promisify(execFile)(process.execPath, [join(REPOSITORY, 'pipeline/cli.ts'), 'key'], {
      env: { PATH, ...env },
    })
    const { code, stdout, stderr } = await starting.catch((error) => error)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      'tokenboard: the store postgres://ada@127.0.0.1:1/db cannot be opened: connect ECONNREFUSED 127.0.0.1:1\n',
    )
  })

  // Last: so many hundreds of stores slow down a restart.
  test('pass the tests of the store and of what the API answers', async () => {
    const results = join(await temporaryFolder(), 'results.json')
    const vitest = join(REPOSITORY, 'node_modules/vitest/vitest.mjs')
    const url = await postgres.newDatabase()
    const words = ['run', '--project', 'unit', '--reporter=json', `--outputFile=${results}`, ...STORE_TESTS]
    const { PATH = '', HOME = '' } = process.env
    const options = { cwd: REPOSITORY, env: { PATH, HOME, TEST_DATABASE_URL: url }, maxBuffer: 2 ** 28 }
    await promisify(execFile)(process.execPath, [vitest, ...words], options).catch(() => {})
    const { numPassedTests, numFailedTests, success, testResults } = JSON.parse(await readFile(results, 'utf8'))
    const assertions = testResults.flatMap(({ assertionResults }: { assertionResults: unknown[] }) => assertionResults)
    expect(assertions.filter(({ status }: { status: string }) => status === 'failed')).toEqual([])
    expect({ success, numFailedTests }).toEqual({ success: true, numFailedTests: 0 })
    expect(numPassedTests).toBeGreaterThan(300)
    // So many tests had a store there, and not elsewhere.
    const stores = "SELECT count(*)::int AS count FROM pg_tables WHERE tablename = 'api_keys'"
    const { count } = await withClient(url, async (client) => (await client.query(stores)).rows[0])
    expect(count).toBeGreaterThan(250)
  })
})

/** Starts servers at once, on one release and one store; the key is the one that they made. */
async function startServers(databaseUrl: string, count: number, settings: Record<string, string> = {}) {
  const folder = await temporaryFolder()
  await publish(join(folder, 'public'), sampleRows({ days: 2 }))
  const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data') }
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      serveTokenboard(folders, { ...settings, DATABASE_URL: databaseUrl }, { lines: 1 }),
    ),
  )
  onTestFinished(async () => {
    for (const { kill } of servers) await kill()
  })
  const printedKey = () => servers.flatMap(({ lines }) => lines).find((line) => line.startsWith('key '))
  await expect.poll(printedKey).toBeDefined()
  return { servers, key: printedKey()?.replace('key ', '') ?? '' }
}

async function statusOf(address: string, key: string): Promise<number> {
  const answer = await fetch(address + KEY, { headers: { authorization: `Bearer ${key}` } })
  await answer.arrayBuffer()
  return answer.status
}

const SLUGS = ['preset-0', 'preset-1', 'preset-2']

/** What a server answered 200 to: the version has `mark` in its config. */
interface Acknowledged {
  slug: string
  version: number
  mark: string
}

/** Makes versions without a pause, each with a mark that is sent once, until it is stopped. */
function startWriter(address: string, key: string, name: string) {
  const acknowledged: Acknowledged[] = []
  const refusals: number[] = []
  let isStopped = false
  async function write(): Promise<void> {
    for (let request = 0; !isStopped; request++) {
      const slug = SLUGS[request % SLUGS.length] ?? ''
      const mark = `${name}-${request}`
      const answer = await fetch(`${address}${PRESETS}/${slug}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: mark, messages: [] }),
      })
      const { data } = (await answer.json()) as PresetResponse
      if (answer.status === 200) acknowledged.push({ slug, version: data.designated_version.version, mark })
      else refusals.push(answer.status)
    }
  }
  const ended = write()
  ended.catch(() => {})
  return {
    acknowledged,
    refusals,
    async stop() {
      isStopped = true
      await ended
    },
  }
}

async function versionsOf(address: string, key: string, slug: string): Promise<Acknowledged[]> {
  const all: Acknowledged[] = []
  for (;;) {
    const url = `${address}${PRESETS}/${slug}/versions?limit=100&offset=${all.length}`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const page = (await answer.json()) as ListPresetVersionsResponse
    all.push(...page.data.map(({ version, config: { model } }) => ({ slug, version, mark: String(model) })))
    if (all.length >= page.total_count) return all
  }
}
