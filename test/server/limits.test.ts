import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { NO_RATE_LIMITS } from '../../server/api/rate-limits.ts'
import { CLOSED, LIMITS, RETRIED, renderLimits } from '../limits.ts'
import { RANKINGS, testApp } from '../support/app.ts'
import { assertEnvelope, type ErrorAnswer } from '../support/envelope.ts'
import { PRESETS, presetApp, REQUEST } from '../support/presets.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { writeIndex } from '../support/release-index.ts'
import { heldLoads } from '../support/release-loader.ts'
import {
  bothEnds,
  getLarge,
  LARGE,
  parseAnswer,
  rawConnection,
  readSlowly,
  start,
  workspace,
} from '../support/running-server.ts'
import { blockWriters, storeUrl, testStore } from '../support/store.ts'

const MIB = 2 ** 20
const HEALTH = 'GET /healthz HTTP/1.1\r\n'
const HOST = 'host: x\r\n'
const RATE_LIMITS = { perMinute: 1, perDay: 1, badKeysPerMinute: 1 }

function seen(answer: ErrorAnswer): string {
  const { statusCode, headers } = answer
  assertEnvelope(answer, statusCode)
  return headers['retry-after'] === undefined ? String(statusCode) : RETRIED(statusCode)
}

/** What a client sees that sends `request` and leaves the connection open, until the server closes it. */
async function seenOver(request: string, limits: object = {}): Promise<string> {
  const { port } = await start(await workspace(), {}, { connectionLimits: { checkEveryMs: 20, ...limits } })
  const socket = await rawConnection(port)
  socket.write(request)
  const answer = await text(socket)
  return answer === '' || answer.startsWith('HTTP/1.1 200 ') ? CLOSED : seen(parseAnswer(answer))
}

/** The head of a request, whose body does not come. */
function beginPost(authorization: string, length = 9): string {
  return `POST ${PRESETS}/a/messages HTTP/1.1\r\n${HOST}authorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
}

async function posting(body: unknown): Promise<string> {
  const { ada } = await presetApp()
  return seen(await ada.post('agent', body))
}

/** Sends two requests, of which the limit allows one. */
async function askingTwice(limit: keyof typeof RATE_LIMITS, key?: string): Promise<string> {
  const { app, authorized } = await testApp({ rateLimitSettings: { ...NO_RATE_LIMITS, [limit]: 1 } })
  const headers = key === undefined ? authorized : { authorization: `Bearer ${key}` }
  await app.inject({ url: PRESETS, headers })
  return seen(await app.inject({ url: PRESETS, headers }))
}

/** What is seen of an answer that a client did not read in time. */
function seenOfLarge(received: string): string {
  const { statusCode, headers, body } = parseAnswer(received)
  return body.length < Number(headers['content-length']) ? CLOSED : String(statusCode)
}

const PROBES: Record<keyof typeof LIMITS, () => Promise<string>> = {
  async connections() {
    const { port, key } = await start(await workspace(LARGE), {}, { connectionLimits: { most: 1 } })
    await readSlowly(port, key)
    return seen(parseAnswer(await text(await rawConnection(port))))
  },
  host: () => seenOver(`${HEALTH}connection: close\r\nhost: a b\r\n\r\n`),
  head: () => seenOver(`${HEALTH}${HOST}x: ${'x'.repeat(16 * 1024)}\r\n\r\n`),
  body: () => posting(' '.repeat(4 * MIB + 1)),
  keys: () =>
    posting({ ...REQUEST, ...Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`k${key}`, 0])) }),
  containers: () => posting({ ...REQUEST, provider: { x: Array(100_000).fill([]) } }),
  async bodies() {
    const { app, ada } = await presetApp()
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const requests: unknown[] = []
    app.server.on('request', (request) => requests.push(request))
    for (const _ of [1, 2]) {
      const socket = await rawConnection(Number(port))
      socket.write(beginPost(ada.headers.authorization, 4 * MIB))
    }
    await expect.poll(() => requests).toHaveLength(2)
    return seen(await ada.post('agent'))
  },
  async older() {
    const { loadRelease, letGo } = heldLoads()
    const { app, authorized, publicDir } = await testApp({ loadRelease })
    const names: string[] = []
    for (const hour of ['00', '01', '02', '03']) {
      names.push(await publish(publicDir, sampleRows({ days: 1 }), { asOf: `2025-02-05T${hour}:00:00Z` }))
    }
    await publish(publicDir, sampleRows({ days: 1 }))
    await writeIndex(publicDir)
    const asking = names.map((name) => app.inject({ url: `${RANKINGS}?as_of=${name}`, headers: authorized }))
    const refused = await Promise.race(asking)
    letGo()
    await Promise.all(asking)
    return seen(refused)
  },
  perMinute: () => askingTwice('perMinute'),
  perDay: () => askingTwice('perDay'),
  badKeys: () => askingTwice('badKeysPerMinute', 'none'),
  async writes() {
    const url = await storeUrl()
    const { ada } = await presetApp({ store: await testStore(url, 50) })
    const release = await blockWriters(url)
    const answer = await ada.post('agent')
    await release()
    return seen(answer)
  },
  async headTime() {
    expect(await seenOver('', { headMs: 50 })).toBe(CLOSED)
    return seenOver(HEALTH, { headMs: 50 })
  },
  async requestTime() {
    const limits = { checkEveryMs: 20, headMs: 50, requestMs: 50 }
    const { port, key } = await start(await workspace(), {}, { connectionLimits: limits })
    const socket = await rawConnection(port)
    socket.write(beginPost(`Bearer ${key}`))
    return seen(parseAnswer(await text(socket)))
  },
  idleTime: () => seenOver(`${HEALTH}${HOST}\r\n`, { idleMs: 50 }),
  async stalledTime() {
    const { port, key } = await start(await workspace(LARGE), {}, { connectionLimits: { stalledMs: 100 } })
    const { socket, served } = await bothEnds(port)
    socket.pause()
    socket.write(getLarge(key))
    await expect.poll(() => served.destroyed).toBe(true)
    return seenOfLarge(await text(socket))
  },
  async stopTime() {
    const { port, key, close } = await start(await workspace(LARGE), {}, { stopDeadlineMs: 50 })
    const socket = await readSlowly(port, key)
    await close()
    return seenOfLarge(await text(socket))
  },
}

test.each(Object.entries(LIMITS))(
  '%s: a client that exceeds the limit sees what the list says',
  async (name, limit) => {
    expect(await PROBES[name as keyof typeof LIMITS]()).toBe(limit.answer)
  },
)

test('docs/operations.md has the list of limits; `make docs` writes it again', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  expect(renderLimits(page)).toBe(page)
})
