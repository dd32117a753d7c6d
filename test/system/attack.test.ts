/**
 * The whole program, attacked over its socket with bytes that no HTTP client sends, and started with settings that would
 * lay it open; then all that it ever printed is searched for what must not be there.
 */
import { stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writePublisher } from '../support/publisher.ts'
import { exchangeAndLeave } from '../support/wire.ts'
import { environment, type Finished, run } from './clone.ts'
import { type SampleServer, serveSample } from './sample-site.ts'

const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
const PASSWORD = 'hunter2-of-the-database'

let server: SampleServer
let folder: string
let url: string
let key: string

beforeAll(async () => {
  server = await serveSample({ LOG_LEVEL: 'trace' })
  ;({ folder, url, key } = server)
  expect(key).toMatch(/^sk-tb-v1-[0-9a-f]{64}$/)
})

afterAll(() => server?.stop())

const HOST = 'Host: a\r\n'
const POST = 'POST /api/v1/presets/one/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

/** Bytes that a proxy before the server could cut into requests in another way than the server does. */
const AMBIGUOUS: Record<string, string> = {
  'both lengths': `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'two lengths': `${POST}Content-Length: 2\r\nContent-Length: ${SMUGGLED.length + 2}\r\n\r\n{}${SMUGGLED}`,
  'a list of lengths': `${POST}Content-Length: 2, 2\r\n\r\n{}${SMUGGLED}`,
  'a signed length': `${POST}Content-Length: +2\r\n\r\n{}${SMUGGLED}`,
  'a hexadecimal length': `${POST}Content-Length: 0x2\r\n\r\n{}${SMUGGLED}`,
  'chunked that is not last': `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'chunked twice': `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a coding like chunked': `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'chunked behind a tab and a line ending': `${POST}Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a space before the colon': `${POST}Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'bare line feeds': `POST /x HTTP/1.1\nHost: a\nContent-Length: ${SMUGGLED.length}\n\n${SMUGGLED}`,
  'a bare line feed in a header': `${POST}X: y\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
  'a bare carriage return in a header': `${POST}X: y\rContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
  'a NUL in a header': `${POST}X: y\0z\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
  'an extension of a chunk with a line feed': `${POST}Transfer-Encoding: chunked\r\n\r\n2;a=b\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'a size of a chunk with 0x': `${POST}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'a size of a chunk with a sign': `${POST}Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'a size of a chunk beyond all': `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'a chunk longer than its size': `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
  'another version': `GET / HTTP/1.2\r\nHost: a\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  'a line without a version': `GET /\r\n${SMUGGLED}`,
}

describe('hidden requests', () => {
  test.each(Object.entries(AMBIGUOUS))('%s: the connection ends without a second request', async (_name, bytes) => {
    const answers = await exchangeAndLeave(url, bytes)
    // The head may have been answered, by the 401 that it deserves; what follows it is nothing, and is told so or not.
    expect(['400', '401', '401 400']).toContain(answers.map(({ status }) => status).join(' '))
  })

  test('a body of one length is never read as a request', async () => {
    const authorization = `Authorization: Bearer ${key}\r\n`
    for (const body of [
      `Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
      `Transfer-Encoding: chunked\r\n\r\n${SMUGGLED.length.toString(16)};x=y\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    ]) {
      for (const [head, statuses] of [
        [POST + authorization, [400]],
        [POST, [401, 200]],
        [`GET /healthz HTTP/1.1\r\n${HOST}`, [200, 200]],
        [`DELETE /none HTTP/1.1\r\n${HOST}`, [404, 200]],
      ] as const) {
        const answers = await exchangeAndLeave(url, head + body)
        expect(answers.map((answer) => answer.status)).toEqual(statuses)
      }
    }
  })

  test.each(['gzip', 'deflate', 'br', 'zstd', 'compress', 'identity, gzip'])(
    'a body in %s is not unpacked',
    async (coding) => {
      const head = `${POST}Authorization: Bearer ${key}\r\nContent-Encoding: ${coding}\r\n`
      const [answer] = await exchangeAndLeave(url, `${head}Content-Length: 2\r\n\r\n{}`)
      expect(answer?.status).toBe(415)
    },
  )
})

describe('private files', () => {
  test('are out of reach by any path, even through links in the public folder', async () => {
    const links = { store: '../data/store.sqlite', data: '../data', 'models/all': '../../data/state', root: '/' }
    for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, 'public', name))
    expect((await stat(join(folder, 'data/store.sqlite'))).mode & 0o077).toBe(0)
    const targets = [
      'data/store.sqlite',
      'data/state/usage.ndjson',
      'store',
      'models/all/usage.ndjson',
      'root/etc/passwd',
    ]
    for (const target of targets) {
      for (const up of [
        '',
        '../',
        '%2e%2e/',
        '..%2f',
        '..%5c',
        '%2e%2e%2f',
        '%252e%252e%252f',
        './/',
        'x/../../',
        'data/',
      ]) {
        const [answer] = await exchangeAndLeave(url, `GET /${up}${target} HTTP/1.1\r\n${HOST}\r\n`)
        expect(answer?.status, up + target).toBe(404)
      }
    }
    const [listed] = await exchangeAndLeave(url, `GET /datasets/ HTTP/1.1\r\n${HOST}\r\n`)
    expect(listed?.status).toBe(404)
  })

  test.each([
    ['the folder of the project', { PUBLIC_DIR: '.' }],
    ['the folder of the data', { PUBLIC_DIR: 'data', DATABASE_URL: 'sqlite:elsewhere.sqlite' }],
    ['a folder around it', { DATA_DIR: 'public/inner', DATABASE_URL: 'sqlite:elsewhere.sqlite' }],
    ['a link to it', { PUBLIC_DIR: 'public/data', DATABASE_URL: 'sqlite:elsewhere.sqlite' }],
  ])('are not published when PUBLIC_DIR is %s', async (_name, settings) => {
    for (const command of ['serve', 'build']) {
      const { code, stderr } = await tokenboard([command], { PORT: '0', ...settings })
      expect([code, stderr]).toEqual([2, expect.stringMatching(/is inside PUBLIC_DIR/)])
    }
  })
})

describe('secrets', () => {
  test('the password of a database is in no message, whatever is wrong with its URL', async () => {
    const urls = [
      `postgres://ada:${PASSWORD}@127.0.0.1:1/tokenboard`,
      `postgres://ada:${PASSWORD}@127.0.0.1:99999/tokenboard`,
      `postgres://ada:${PASSWORD}@127.0.0.1:1/tokenboard?sslrootcert=none.pem`,
      `postgres://127.0.0.1:1/tokenboard?user=ada&password=${PASSWORD}`,
      `mysql://ada:${PASSWORD}@127.0.0.1/tokenboard`,
    ]
    await Promise.all(
      urls.map(async (DATABASE_URL, index) => {
        const words = [['serve'], ['key'], ['store', 'backup', 'none.sqlite']][index % 3] ?? []
        const { code, stdout, stderr } = await tokenboard(words, { PORT: '0', DATABASE_URL, LOG_LEVEL: 'trace' })
        expect([code, stderr]).toEqual([
          index % 3 === 2 || index > 3 || index === 1 ? 2 : 1,
          expect.stringMatching(/store|DATABASE_URL/),
        ])
        expect(stdout + stderr).not.toContain(PASSWORD)
      }),
    )
  })

  test('the password of ClickHouse is in no message and in no file', async () => {
    const engine = { clickhouse: { url: 'http://127.0.0.1:1', view: 'usage' } }
    await writeFile(join(folder, 'models.json'), '[]')
    await writePublisher(join(folder, 'other'))
    await writeFile(join(folder, 'sources.json'), JSON.stringify({ models: 'models.json', engine }))
    const settings = {
      SOURCES: 'sources.json',
      CLICKHOUSE_USER: 'ada',
      CLICKHOUSE_PASSWORD: PASSWORD,
      DATA_DIR: 'other',
    }
    const { code, stdout, stderr } = await tokenboard(['build'], { ...settings, PUBLIC_DIR: 'other-public' })
    expect(code, stderr).toBe(1)
    expect(stderr).toContain('127.0.0.1:1')
    expect(stdout + stderr).not.toContain(PASSWORD)
    const found = await run('grep', ['-rlF', PASSWORD, '.'], { cwd: folder })
    expect(found.stdout).toBe('')
  })

  test('the log contains no key, no hash and no header with a key', async () => {
    const bad = `sk-tb-v1-${'0123456789abcdef'.repeat(4)}`
    for (const secret of [key, bad]) {
      for (const bytes of [
        `GET /api/v1/key HTTP/1.1\r\n${HOST}Authorization: Bearer ${secret}\r\n\r\n`,
        `GET /api/v1/key?key=${secret} HTTP/1.1\r\n${HOST}Cookie: key=${secret}\r\n\r\n`,
        `GET /${secret}/x HTTP/1.1\r\n${HOST}Referer: http://x/${secret}\r\n\r\n`,
        `GET http://${secret}@a/x HTTP/1.1\r\n${HOST}User-Agent: ${secret}\r\n\r\n`,
        `GET /api/v1/presets/${secret} HTTP/1.1\r\n${HOST}X-Request-Id: ${secret}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
        `${POST}Authorization: Bearer ${key}\r\nContent-Length: ${secret.length}\r\n\r\n${secret}`,
        `GET /x HTTP/1.1\r\n${HOST}Authorization: Bearer ${secret}\r\nX: \0\r\n\r\n`,
        `${secret} / HTTP/1.1\r\n${HOST}\r\n`,
      ]) {
        await exchangeAndLeave(url, bytes)
      }
    }
    server.signal('SIGTERM')
    const { code } = await server.ended
    expect(code).toBe(0)
    const lines = server.log.filter((line) => line.startsWith('{'))
    const [stdout, stderr] = [server.lines.join('\n'), server.log.join('\n')]
    expect(lines.filter((line) => line.includes('/smuggled'))).toEqual([])
    expect(lines.filter((line) => line.includes('[secret]')).length).toBeGreaterThan(5)
    for (const secret of [key, bad]) expect(stderr).not.toContain(secret.slice('sk-tb-v1-'.length))
    expect(stderr).not.toMatch(/authorization|bearer|cookie/i)
    expect(lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
    expect(server.lines.filter((line) => line.includes(key))).toHaveLength(2)
    expect(stdout).not.toContain(bad)
  })
})

function tokenboard(words: string[], settings: Record<string, string>): Promise<Finished> {
  return run(process.execPath, [CLI, ...words], { cwd: folder, env: environment(settings) })
}
