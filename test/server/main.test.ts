import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
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
import { LARGE, NEVER_MS, rawAnswer, rawConnection, readSlowly, start, workspace } from '../support/running-server.ts'

const PATH = '/api/v1/datasets/rankings-daily'

describe('the printed text', () => {
  test('on a new store is the address, a management key and a curl line that works', async () => {
    const folders = await workspace(sampleRows({ days: 40 }))
    const { url, printed, key, close, log } = await start(folders, { LOG_LEVEL: 'trace' })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    expect(printed).toEqual([
      `listening ${url}`,
      `key ${key}`,
      `try curl -sS --fail-with-body -H 'Authorization: Bearer ${key}' '${url}${PATH}'`,
    ])
    const { stdout } = await promisify(execFile)('sh', ['-c', (printed[2] ?? '').replace('try ', '')])
    expect(JSON.parse(stdout).data).toHaveLength(31 * 51)
    await close()
    expect(log.text()).not.toContain(key.slice(9))
    const store = await openStore(`sqlite:${folders.dataDir}/store.sqlite`)
    const label = `${key.slice(0, 12)}...${key.slice(-3)}`
    expect(await apiKeys(store).list()).toMatchObject([{ is_management: 1, label }])
    await store.close()
  })

  test('has no key at the next start, when one exists already, when BOOTSTRAP_KEY is 0, or off loopback', async () => {
    const folders = await workspace()
    const first = await start(folders)
    await first.close()
    const second = await start(folders)
    expect(second.printed).toEqual([`listening ${second.url}`])
    const answer = await fetch(second.url + PATH, { headers: { authorization: `Bearer ${first.key}` } })
    expect(answer.status).toBe(200)
    const withKey = await workspace()
    const store = await openStore(`sqlite:${withKey.dataDir}/store.sqlite`)
    await apiKeys(store).create({}, NOW)
    await store.close()
    expect((await start(withKey)).printed).toHaveLength(1)
    expect((await start(await workspace(), { BOOTSTRAP_KEY: '0' })).printed).toHaveLength(1)
    const everywhere = await start(await workspace(), { HOST: '0.0.0.0' })
    expect(everywhere.printed).toEqual([expect.stringMatching(/^listening http:\/\/0\.0\.0\.0:\d+$/)])
  })

  test('has an IPv6 address in brackets', async ({ skip }) => {
    const started = await start(await workspace(), { HOST: '::1' }).catch((error: unknown) => error)
    if (started instanceof ListenError) return skip('this machine has no IPv6')
    const { url } = started as Awaited<ReturnType<typeof start>>
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })
})

describe('a start that fails', () => {
  test('names a port that is in use, and leaves the first key to the next start', async () => {
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

  test('names an address of another machine', async () => {
    await expect(start(await workspace(), { HOST: '192.0.2.1' })).rejects.toThrow(
      /no such address; choose another HOST/,
    )
  })
})

test('errors keep or close the connection like any other answer', async () => {
  const { port } = await start(await workspace())
  const post = 'POST /api/v1/presets/x/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'
  for (const [request, connection, keepAlive] of [
    ['GET /api/v1/key HTTP/1.0\r\n\r\n', 'close', undefined],
    ['GET /api/v1/key HTTP/1.1\r\nhost: x\r\n\r\n', 'keep-alive', 'timeout=72'],
    [post, 'keep-alive', 'timeout=72'],
  ] as const) {
    const answer = await rawAnswer(port, request)
    assertEnvelope(answer, 401)
    expect([answer.headers.connection, answer.headers['keep-alive']], request).toEqual([connection, keepAlive])
  }
})

describe('stopping', () => {
  test('closes the connection of a client that is refused meanwhile, and says so', async () => {
    const { port, key, close } = await start(await workspace(LARGE), {}, { stopDeadlineMs: NEVER_MS })
    const socket = await readSlowly(port, key)
    const closed = close()
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const [, last] = (await text(socket)).split('HTTP/1.1 401 ')
    expect(last).toMatch(/^connection: close\r$/im)
    await closed
  })
})

test.runIf(process.platform === 'linux')(
  'open files are closed after answers and when a client goes away',
  async () => {
    const NAME = 'held.bin'
    const openFiles = async () => {
      const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
      return (await Promise.all(links)).filter((path) => path.endsWith(NAME)).length
    }
    const folders = await workspace()
    await writeFile(join(folders.publicDir, NAME), Buffer.alloc(50_000_000))
    const { url, port, log } = await start(folders)
    const request = async (init: RequestInit) => (await fetch(`${url}/${NAME}`, init)).status
    expect(await request({ method: 'HEAD' })).toBe(200)
    expect(await request({ headers: { 'if-none-match': '*' } })).toBe(304)
    expect(await request({ headers: { range: 'bytes=50000000-' } })).toBe(416)
    expect(await openFiles()).toBe(0)

    const socket = await rawConnection(port)
    socket.write(`GET /${NAME} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await once(socket, 'data')
    expect(await openFiles()).toBe(1)
    socket.destroy()
    await expect.poll(openFiles).toBe(0)
    const afterOthers = () =>
      log
        .lines()
        .filter(({ url }) => url === `/${NAME}`)
        .slice(3)
    await expect.poll(afterOthers).toMatchObject([{ msg: 'request aborted by the client' }])
  },
)

test('slow clients do not delay others, and get the whole release they asked for', async () => {
  const folders = await workspace(LARGE)
  const { url, port, key, log } = await start(folders)
  const slow = await Promise.all(Array.from({ length: 5 }, () => readSlowly(port, key, 'close')))
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
    expect(JSON.parse(body)).toMatchObject({ data: LARGE, meta: { as_of: '2025-02-10T00:12:00Z' } })
    expect(head).toContain('20250210T001200Z')
  }
})
