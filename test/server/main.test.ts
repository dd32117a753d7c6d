import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RankingResponse } from '../../pipeline/contract/ranking.ts'
import { ListenError } from '../../server/main.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { openStore } from '../../server/store/store.ts'
import { NOW } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { beginStop, bothEnds, rawAnswer, rawConnection, start, workspace } from '../support/running-server.ts'

const PATH = '/api/v1/datasets/rankings-daily'

/** No test waits for it: whatever waited for it would be ended as a hanging test. */
const NEVER_MS = 2 ** 31 - 1

describe('what is printed', () => {
  test('on a new store: address, management key and a curl line that works', async () => {
    const { url, printed, key } = await start(await workspace(sampleRows({ days: 40 })))
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    expect(printed).toEqual([
      `listening ${url}`,
      `key ${key}`,
      `try curl -sS --fail-with-body -H 'Authorization: Bearer ${key}' '${url}${PATH}'`,
    ])
    const { stdout } = await promisify(execFile)('sh', ['-c', (printed[2] ?? '').replace('try ', '')])
    expect(JSON.parse(stdout).data).toHaveLength(31 * 51)
  })

  test('the key is a management key', async () => {
    const folders = await workspace()
    const { key, close } = await start(folders)
    await close()
    const store = await openStore(`sqlite:${folders.dataDir}/store.sqlite`)
    const stored = await store.db.selectFrom('api_keys').selectAll().execute()
    expect(stored).toMatchObject([{ is_management: 1, label: `${key.slice(0, 12)}...${key.slice(-3)}` }])
    await store.close()
  })

  test('the next start prints the address alone, and the key still works', async () => {
    const folders = await workspace()
    const first = await start(folders)
    await first.close()
    const second = await start(folders)
    expect(second.printed).toEqual([`listening ${second.url}`])
    const answer = await fetch(second.url + PATH, { headers: { authorization: `Bearer ${first.key}` } })
    expect(answer.status).toBe(200)
  })

  test('nothing but the address where a key was made before, where BOOTSTRAP_KEY is 0, or off loopback', async () => {
    const withKey = await workspace()
    const store = await openStore(`sqlite:${withKey.dataDir}/store.sqlite`)
    await apiKeys(store).create({}, NOW)
    await store.close()
    expect((await start(withKey)).printed).toHaveLength(1)
    expect((await start(await workspace(), { BOOTSTRAP_KEY: '0' })).printed).toHaveLength(1)
    const everywhere = await start(await workspace(), { HOST: '0.0.0.0' })
    expect(everywhere.printed).toEqual([expect.stringMatching(/^listening http:\/\/0\.0\.0\.0:\d+$/)])
  })

  test('the key is never logged', async () => {
    const { log, key, url } = await start(await workspace(), { LOG_LEVEL: 'trace' })
    await (await fetch(url + PATH, { headers: { authorization: `Bearer ${key}` } })).text()
    await expect.poll(log.text).toContain('"msg":"request"')
    expect(log.text()).not.toContain(key.slice('sk-tb-v1-'.length))
  })

  test('an IPv6 address is bracketed', async ({ skip }) => {
    const started = await start(await workspace(), { HOST: '::1' }).catch((error: unknown) => error)
    if (started instanceof ListenError) return skip('this machine has no IPv6')
    const { url } = started as Awaited<ReturnType<typeof start>>
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })
})

describe('a start that fails', () => {
  test('a port in use is one clear sentence, and no key is lost to it', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => {
      other.close()
    })
    const port = String((other.address() as { port: number }).port)
    const folders = await workspace()
    const starting = start(folders, { PORT: port })
    await expect(starting).rejects.toThrow(ListenError)
    await expect(starting).rejects.toThrow(
      `cannot listen on 127.0.0.1, port ${port}: the port is in use; stop the program that has it or choose another PORT`,
    )
    expect((await start(folders)).printed).toHaveLength(3)
  })

  test('an address of another machine is told too', async () => {
    await expect(start(await workspace(), { HOST: '192.0.2.1' })).rejects.toThrow(
      /no such address; choose another HOST/,
    )
  })
})

describe('requests that are no HTTP of a client', () => {
  test('a path that climbs is 404, as no client normalises it here', async () => {
    const folders = await workspace()
    await writeFile(join(folders.folder, 'secret.txt'), 'secret')
    const { port } = await start(folders)
    for (const path of ['/../secret.txt', '/datasets/../../secret.txt', '/%2e%2e/secret.txt']) {
      const answer = await rawAnswer(port, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      assertEnvelope(answer, 404)
    }
  })
})

test('a connection after an error is what it would be after any answer', async () => {
  const { port } = await start(await workspace())
  for (const [what, request, connection, keepAlive] of [
    ['a GET of HTTP/1.0', 'GET /api/v1/key HTTP/1.0\r\n\r\n', 'close', undefined],
    ['a GET of HTTP/1.1', 'GET /api/v1/key HTTP/1.1\r\nhost: x\r\n\r\n', 'keep-alive', 'timeout=72'],
    [
      'an empty POST',
      'POST /api/v1/presets/x/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n',
      'keep-alive',
      'timeout=72',
    ],
  ] as const) {
    const answer = await rawAnswer(port, request)
    assertEnvelope(answer, 401)
    expect([what, answer.headers.connection, answer.headers['keep-alive']]).toEqual([what, connection, keepAlive])
  }
})

describe('stopping', () => {
  const large = sampleRows({ days: 40 }).map((row) => ({
    ...row,
    model_permaslug: row.model_permaslug.padEnd(3000, 'x'),
  }))
  const wholeWindow = `${PATH}?start_date=2025-01-01`
  const largeWithoutOther = large.filter(({ model_permaslug }) => model_permaslug.startsWith('vendor/'))

  /** Asks for more than sockets hold, and reads no more than the beginning of the answer. */
  async function slowRequest(port: number, key: string, connection = 'close'): Promise<Socket> {
    const socket = await rawConnection(port)
    socket.pause()
    socket.write(
      `GET ${wholeWindow} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: ${connection}\r\n\r\n`,
    )
    await once(socket, 'readable')
    return socket
  }

  test('finishes running answers, and accepts no more', async () => {
    const { port, key, close } = await start(await workspace(largeWithoutOther), {}, { stopDeadlineMs: NEVER_MS })
    const socket = await slowRequest(port, key)
    const { closed } = await beginStop(port, close)
    const [, body = ''] = (await text(socket)).split('\r\n\r\n', 2)
    expect(JSON.parse(body).data).toHaveLength(largeWithoutOther.length)
    await closed
  })

  test('tells a client that is refused meanwhile that it was the last answer', async () => {
    const { port, key, close } = await start(await workspace(largeWithoutOther), {}, { stopDeadlineMs: NEVER_MS })
    const socket = await slowRequest(port, key, 'keep-alive')
    const closed = close()
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const [, last] = (await text(socket)).split('HTTP/1.1 401 ')
    expect(last).toMatch(/^connection: close\r$/im)
    await closed
  })

  test('does not wait for idle connections', async () => {
    const { url, port, close } = await start(await workspace(), {}, { stopDeadlineMs: NEVER_MS })
    await (await fetch(`${url}/healthz`)).text()
    await bothEnds(port)
    await close()
  })

  test('cuts a client that reads nothing when the deadline is over', async () => {
    const { port, key, close } = await start(await workspace(largeWithoutOther), {}, { stopDeadlineMs: 200 })
    const socket = await slowRequest(port, key)
    await close()
    const received = await text(socket).catch((error: Error) => error.message)
    expect(received).not.toMatch(/\}\}$/)
  })

  test('does not wait for a request whose head is not all there', async () => {
    const { port, close } = await start(await workspace(), {}, { stopDeadlineMs: NEVER_MS })
    const { socket, served } = await bothEnds(port)
    const part = 'GET / HTTP/1.1\r\nhost'
    socket.write(part)
    await expect.poll(() => served.bytesRead).toBe(part.length)
    const gone = once(socket.resume(), 'close')
    await Promise.all([close(), gone])
  })
})

describe.runIf(process.platform === 'linux')('open files', () => {
  const NAME = 'held.bin'

  async function openFiles(): Promise<number> {
    const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
    return (await Promise.all(links)).filter((path) => path.endsWith(NAME)).length
  }

  test('a client that goes away midway leaves none, and is one line in the log', async () => {
    const folders = await workspace()
    await writeFile(join(folders.publicDir, NAME), Buffer.alloc(50_000_000))
    const { port, log } = await start(folders)
    const socket = await rawConnection(port)
    socket.write(`GET /${NAME} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await once(socket, 'data')
    expect(await openFiles()).toBe(1)
    socket.destroy()
    await expect.poll(openFiles).toBe(0)
    const requests = () => log.lines().filter(({ url }) => url === `/${NAME}`)
    await expect.poll(requests).toMatchObject([{ msg: 'request aborted by the client' }])
  })

  test('a client that goes away in the middle of a window is one line in the log too', async () => {
    const rows = sampleRows({ days: 40 }).map((row) => ({
      ...row,
      model_permaslug: row.model_permaslug.padEnd(3000, 'x'),
    }))
    const { port, key, log } = await start(await workspace(rows.filter((row) => row.model_permaslug.startsWith('v'))))
    const socket = await rawConnection(port)
    socket.pause()
    socket.write(`GET ${PATH}?start_date=2025-01-01 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`)
    await once(socket, 'readable')
    socket.destroy()
    const requests = () => log.lines().filter(({ url }) => String(url).startsWith(PATH))
    await expect.poll(requests).toMatchObject([{ msg: 'request aborted by the client' }])
  })

  test('an answer without a body leaves none', async () => {
    const folders = await workspace()
    await writeFile(join(folders.publicDir, NAME), 'x')
    const { url } = await start(folders)
    const request = async (init: RequestInit) => (await fetch(`${url}/${NAME}`, init)).status
    expect(await request({ method: 'HEAD' })).toBe(200)
    expect(await request({ headers: { 'if-none-match': '*' } })).toBe(304)
    expect(await request({ headers: { range: 'bytes=9-' } })).toBe(416)
    expect(await openFiles()).toBe(0)
  })
})

test('slow clients keep nobody waiting, and get the release they asked for whole', async () => {
  const rows = sampleRows({ days: 40 })
    .map((row) => ({ ...row, model_permaslug: row.model_permaslug.padEnd(3000, 'x') }))
    .filter(({ model_permaslug }) => model_permaslug.startsWith('vendor/'))
  const folders = await workspace(rows)
  const { url, port, key, log } = await start(folders)
  const slow = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const socket = await rawConnection(port)
      socket.pause()
      socket.write(
        `GET ${PATH}?start_date=2025-01-01 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
      )
      await once(socket, 'readable')
      return socket
    }),
  )
  const asOf = async () => {
    const answer = await fetch(url + PATH, { headers: { authorization: `Bearer ${key}` } })
    return ((await answer.json()) as RankingResponse).meta.as_of
  }
  expect(await asOf()).toBe('2025-02-10T00:12:00Z')

  await publish(folders.publicDir, sampleRows({ days: 3 }), { asOf: '2025-02-10T01:00:00Z' })
  await expect.poll(() => log.text().split('release loaded').length).toBe(3)
  expect(await asOf()).toBe('2025-02-10T01:00:00Z')

  for (const socket of slow) {
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n', 2)
    expect(JSON.parse(body)).toMatchObject({ data: rows, meta: { as_of: '2025-02-10T00:12:00Z' } })
    expect(head).toContain('20250210T001200Z')
  }
})
