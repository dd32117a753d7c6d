/**
 * Two servers on one PostgreSQL behind nginx and behind Caddy, with the very files in deploy/: what clients get while the
 * database is away, while one key asks for many releases, and while servers are lost. Skipped, loudly, where a part is
 * not installed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assertEnvelope, type ErrorAnswer } from '../support/envelope.ts'
import { PRESETS } from '../support/presets.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { writeIndex } from '../support/release-index.ts'
import { type ServerProcess, serveTokenboard } from '../support/server-process.ts'
import { type Host, skipLoudly } from '../system/hosting.ts'
import { noPostgres, type Postgres, startPostgres } from '../system/postgres.ts'
import { BALANCER_KINDS } from './balancing.ts'

/** How many requests arrive at once. */
const CLIENTS = 40
/** How often each client asks for each path: many times what it takes to mark a server as down. */
const ROUNDS = 10
const UNAVAILABLE = 'The service is not available. Please try again later.'
const LARGEST_BODY = 4 * 2 ** 20

/** What servers answer without the database. */
const FILES = [`/${FOLDER}/latest.json`, `/${FOLDER}/releases/index.json`, '/healthz']
const API = ['/api/v1/key', '/api/v1/datasets/rankings-daily', '/api/v1/presets', '/api/v1/embeddings/models']

describe.each(BALANCER_KINDS)('two servers behind $name, with $file', ({ name, isHere, start }) => {
  const missing = noPostgres ?? (isHere ? undefined : `${name} is not installed`)

  if (missing !== undefined) {
    test('is not tested: a program is not installed', ({ skip }) => {
      skipLoudly(skip, `${missing}, so two servers behind ${name} were not run`)
    })
  }

  describe.skipIf(missing !== undefined)('requests', () => {
    let folder: string
    let postgres: Postgres
    let servers: [ServerProcess, ServerProcess]
    let host: Host
    let key: string
    /** Releases that nobody asked for yet. */
    let releases: string[]

    const startServer = (port = '0', lines = 1) => {
      const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data') }
      const settings = { PORT: port, DATABASE_URL: postgres.url, TRUST_PROXY: '1' }
      return serveTokenboard(folders, settings, { lines })
    }

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tokenboard-balancer-'))
      postgres = await startPostgres('fsync=off')
      releases = await publishMany(join(folder, 'public'), 3 * CLIENTS)
      // The first one prints the key of the new store in its second line.
      servers = [await startServer('0', 3), await startServer()]
      key = servers[0].lines[1]?.replace('key ', '') ?? ''
      const [first, second] = servers.map(({ url }) => new URL(url).host)
      host = await start([first ?? '', second ?? ''], folder)
    })

    afterAll(async () => {
      await host?.stop()
      for (const { kill } of servers ?? []) await kill()
      await postgres?.remove()
      await rm(folder, { recursive: true, force: true })
    })

    const get = (path: string) => ask(host.url + path, { headers: { authorization: `Bearer ${key}` } })

    /** Every client asks for all paths, again and again; counts the answers to each. */
    async function count(paths: readonly string[], look = (_answer: ErrorAnswer): void => {}) {
      const counted: Record<string, number> = {}
      const client = async () => {
        for (const path of Array.from({ length: ROUNDS }, () => paths).flat()) {
          const answer = await get(path)
          look(answer)
          const what = `${answer.statusCode} ${path}`
          counted[what] = (counted[what] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, client))
      return counted
    }

    const all = (status: number, paths: readonly string[]) =>
      Object.fromEntries(paths.map((path) => [`${status} ${path}`, CLIENTS * ROUNDS]))

    test('with a body of 4 MiB are accepted, and with one byte more refused by the server', async () => {
      const post = (bytes: number, isChunked: boolean) => {
        const [head, tail] = ['{"model":"acme/one","messages":[{"role":"user","content":"', '"}]}']
        const body = `${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`
        const length = isChunked ? {} : { 'content-length': `${bytes}` }
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...length }
        return ask(`${host.url}${PRESETS}/large/messages`, { method: 'POST', headers, body })
      }
      for (const isChunked of [false, true]) {
        expect((await post(LARGEST_BODY, isChunked)).statusCode).toBe(200)
        const { error } = assertEnvelope(await post(LARGEST_BODY + 1, isChunked), 413)
        expect(error).toEqual({ code: 413, message: 'Request body is too large' })
      }
    })

    test('for many older releases at once are answered with 200 or 429', async () => {
      const names = [...releases]
      const counted = count(FILES)
      const statuses: number[] = []
      const client = async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          const answer = await get(`/api/v1/datasets/rankings-daily?as_of=${name}`)
          statuses.push(answer.statusCode)
          if (answer.statusCode === 429) {
            expect(assertEnvelope(answer, 429).error.message).toMatch(/older releases/)
            expect(answer.headers['retry-after']).toBe('5')
          }
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, client))
      expect(new Set(statuses)).toEqual(new Set([200, 429]))
      expect(await counted).toEqual(all(200, FILES))
      expect((await get('/api/v1/datasets/rankings-daily')).statusCode).toBe(200)
    })

    test('without the database get every file, and 503 with Retry-After from the API', async () => {
      await postgres.stop()
      const lookAt = (answer: ErrorAnswer) => {
        if (answer.statusCode === 200) return
        expect(assertEnvelope(answer, 503).error).toEqual({ code: 503, message: UNAVAILABLE })
        // It comes from a server: what a balancer answers by itself has no such header.
        expect(answer.headers).toMatchObject({ 'retry-after': '5', 'x-request-id': expect.any(String) })
      }
      try {
        const counted = await count([...FILES, ...API], lookAt)
        expect(counted).toEqual({ ...all(200, FILES), ...all(503, API) })
      } finally {
        await postgres.start()
      }
      expect(await count([...FILES, ...API])).toEqual(all(200, [...FILES, ...API]))
    })

    test('are all answered while one server is lost, and get 503 in the envelope when both are', async () => {
      const [first, second] = servers
      await first.kill()
      expect(await count([...FILES, ...API])).toEqual(all(200, [...FILES, ...API]))
      servers[0] = await startServer(`${first.port}`)
      await second.kill()
      await expect.poll(async () => (await get('/api/v1/key')).statusCode, { timeout: 120_000 }).toBe(200)
      expect(await count(FILES)).toEqual(all(200, FILES))
      await servers[0].kill()
      const answer = await get('/api/v1/key')
      expect(assertEnvelope(answer, 503).error).toEqual({ code: 503, message: UNAVAILABLE })
      expect(answer.headers).toMatchObject({ 'retry-after': '5', 'access-control-allow-origin': '*' })
    })
  })
})

/** Publishes a release and so many older ones, whose names it returns. */
async function publishMany(publicDir: string, older: number): Promise<string[]> {
  const names: string[] = []
  for (let index = 0; index < older; index++) {
    const asOf = new Date(Date.UTC(2025, 0, 10, index)).toISOString().replace('.000', '')
    names.push(await publish(publicDir, sampleRows({ days: 3 }), { asOf }))
  }
  await publish(publicDir, sampleRows({ days: 40 }))
  await writeIndex(publicDir)
  return names
}

/** One request on a connection of its own: the balancer's connections are looked at, not those to it. */
async function ask(
  url: string,
  { method = 'GET', headers, body = '' }: { method?: string; headers: Record<string, string>; body?: string },
): Promise<ErrorAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ErrorAnswer>()
  const sent = request(url, { method, headers, agent: false }, (response) => {
    text(response).then(
      (answer) => resolve({ statusCode: response.statusCode ?? 0, headers: response.headers, body: answer }),
      reject,
    )
  })
  sent.on('error', reject)
  if (body === '') sent.end()
  else Readable.from([body]).pipe(sent)
  return promise
}
