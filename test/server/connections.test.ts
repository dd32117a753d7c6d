import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { mostConnections } from '../../server/api/connections.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { sampleRows } from '../support/publish.ts'
import {
  beginStop,
  bothEnds,
  getLarge,
  LARGE,
  NEVER_MS,
  parseAnswer,
  rawAnswer,
  rawConnection,
  readSlowly,
  sendPackets,
  start,
  workspace,
} from '../support/running-server.ts'

const NONSENSE = 'nonsense\r\n\r\n'
const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
function post(key: string, headers: string): string {
  return `POST /api/v1/presets/agent/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`
}

async function startWith(connectionLimits: object, rows = sampleRows({ days: 3 })) {
  return start(await workspace(rows), {}, { connectionLimits: { checkEveryMs: 20, ...connectionLimits } })
}

/** Sends `request` and reads its answer, which has a short body, and leaves the connection open. */
async function converse(socket: Socket, request: string) {
  socket.write(request)
  const [bytes] = await once(socket, 'data')
  return parseAnswer(String(bytes))
}

async function isOpen(socket: Socket): Promise<boolean> {
  return (await converse(socket, HEALTH).catch(() => undefined)) !== undefined
}

describe('malformed HTTP', () => {
  const REFUSED = [
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n', 400],
    ['an unknown expectation', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n', 417],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n', 501],
    ['no HTTP', 'nonsense\r\n\r\n', 400],
    ['two lengths', `${'POST /healthz HTTP/1.1\r\nhost: x\r\n'}content-length: 1\r\ncontent-length: 2\r\n\r\n`, 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['too long a header', `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['too long a URL', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
    ['too many headers', `GET / HTTP/1.1\r\nhost: x\r\n${'a:b\r\n'.repeat(4000)}\r\n`, 431],
  ] as const

  test('is refused in the envelope, also when a chunk of a body is broken', async () => {
    const { port, key } = await start(await workspace())
    for (const [what, request, status] of REFUSED) {
      const answer = await rawAnswer(port, request)
      expect([what, answer.statusCode]).toEqual([what, status])
      assertEnvelope(answer, status)
    }
    assertEnvelope(await rawAnswer(port, `${post(key, 'transfer-encoding: chunked')}zz\r\n`), 400)
  })

  test('does not include HTTP/1.0 without Host, or 100-continue', async () => {
    const { port } = await start(await workspace())
    expect((await rawAnswer(port, 'GET /healthz HTTP/1.0\r\n\r\n')).statusCode).toBe(200)
    const expecting = 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n\r\n'
    expect((await rawAnswer(port, expecting)).statusCode).toBe(100)
  })

  test('is not answered a second time when the request was refused before its body broke', async () => {
    const { port } = await start(await workspace())
    const socket = await rawConnection(port)
    const answer = await converse(socket, post('none', 'transfer-encoding: chunked'))
    assertEnvelope(answer, 401)
    socket.write('zz\r\n')
    expect(await text(socket)).toBe('')
  })
})

describe('nonsense behind a good request does not harm its answer', () => {
  test.each<[string, (good: string) => string[]]>([
    ['when both are in one packet', (good) => [good + good + NONSENSE]],
    ['when it comes later', (good) => [good + good, NONSENSE]],
  ])('%s', async (_, packets) => {
    const { port, key } = await start(await workspace(LARGE))
    const socket = await sendPackets(port, packets(getLarge(key)))
    const [first = '', second = '', third = ''] = (await text(socket)).split(/(?=HTTP\/1\.1 )/)
    for (const answer of [first, second]) expect(JSON.parse(parseAnswer(answer).body).data).toHaveLength(LARGE.length)
    assertEnvelope(parseAnswer(third), 400)
  })
})

test('a client that continues with nonsense is answered once and read no further', async () => {
  const { port, key, log } = await start(await workspace(LARGE))
  const socket = await sendPackets(port, [getLarge(key), ...Array<string>(20).fill(NONSENSE)])
  const answers = (await text(socket)).split(/(?=HTTP\/1\.1 )/)
  expect(answers.map((answer) => parseAnswer(answer).statusCode)).toEqual([200, 400])
  expect(log.lines().filter(({ msg }) => msg === 'unreadable request')).toHaveLength(1)
})

describe('the number of connections', () => {
  test('is limited: a new one replaces the least recently used', async () => {
    const { port } = await startWith({ most: 3 })
    const [unused, used, usedLater] = [await rawConnection(port), await rawConnection(port), await rawConnection(port)]
    await isOpen(usedLater)
    await isOpen(used)
    const closed = once(unused.resume(), 'close')
    const next = await rawConnection(port)
    await closed
    expect(await isOpen(next)).toBe(true)
    const closedNext = once(usedLater.resume(), 'close')
    expect(await isOpen(await rawConnection(port))).toBe(true)
    await closedNext
    expect(await isOpen(used)).toBe(true)
  })

  test('is limited: a new one is refused when requests are under way on all others', async () => {
    const { port, key } = await startWith({ most: 2 })
    const busy = [await rawConnection(port), await rawConnection(port)]
    for (const socket of busy) socket.write(post(key, 'content-length: 36\r\nexpect: 100-continue'))
    await Promise.all(busy.map((socket) => once(socket, 'data')))
    const refused = parseAnswer(await text(await rawConnection(port)))
    assertEnvelope(refused, 503)
    expect(refused.headers['retry-after']).toBe('5')
    const statuses = busy.map(
      async (socket) => (await converse(socket, '{"model":"acme/one", "messages": []}')).statusCode,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200])
    expect(await isOpen(await rawConnection(port))).toBe(true)
  })

  test('is limited: a connection that was answered is replaced, even if its body is not sent yet', async () => {
    const { port, log } = await startWith({ most: 2 })
    const owing = [await rawConnection(port), await rawConnection(port)]
    for (const socket of owing) await converse(socket, post('none', 'content-length: 10'))
    expect(await isOpen(await rawConnection(port))).toBe(true)
    const warnings = () => log.lines().filter(({ level, most }) => level === 40 && most === 2)
    await expect.poll(warnings).toHaveLength(1)
  })

  test('leaves a quarter of the open files to everything else', () => {
    expect([mostConnections(1000), mostConnections(20_000), mostConnections(Infinity)]).toEqual([750, 15_000, 20_000])
  })
})

test('a client that goes away in the middle of its body is one line in the log, not an error', async () => {
  const { port, key, log } = await start(await workspace())
  const socket = await rawConnection(port)
  socket.write(`${post(key, 'content-length: 100\r\nexpect: 100-continue')}{`)
  await once(socket, 'data')
  socket.destroy()
  const requests = () => log.lines().filter(({ url, level }) => url !== undefined || level !== 30)
  const aborted = { level: 30, msg: 'request aborted by the client', url: '/api/v1/presets/agent/messages' }
  await expect.poll(requests).toMatchObject([aborted])
  await isOpen(await rawConnection(port))
  await expect.poll(requests).toMatchObject([aborted, { level: 30, msg: 'request', url: '/healthz' }])
})

test('clients that reset connections at any moment cause no warning, and the server keeps answering', async () => {
  const { port, log } = await start(await workspace())
  const HTTP = 'HTTP/1.1\r\nhost: x\r\n'
  for (const request of [
    `CONNECT example.org:443 ${HTTP}\r\n`,
    'nonsense\r\n\r\n',
    `${HEALTH}nonsense\r\n\r\n`,
    `GET /healthz ${HTTP}connection: upgrade\r\nupgrade: h2c\r\n\r\nnonsense`,
    `POST /healthz ${HTTP}content-length: 10\r\n\r\n`,
  ]) {
    for (let turns = 0; turns < 5; turns++) {
      const socket = await rawConnection(port)
      socket.write(request)
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      socket.resetAndDestroy()
    }
  }
  expect(await isOpen(await rawConnection(port))).toBe(true)
  expect(log.lines().filter(({ level }) => Number(level) > 30)).toEqual([])
})

describe('stopping', () => {
  test('does not wait for the rest of a head, even on a connection that was used before', async () => {
    const { port, close } = await start(await workspace(), {}, { stopDeadlineMs: NEVER_MS })
    const { socket, served } = await bothEnds(port)
    expect((await converse(socket, HEALTH)).statusCode).toBe(200)
    const part = 'GET / HTTP/1.1\r\nhost'
    socket.write(part)
    await expect.poll(() => served.bytesRead).toBe(HEALTH.length + part.length)
    await close()
  })

  test('waits for requests under way, but not for further ones on their connections', async () => {
    const { port, key, close } = await start(await workspace(LARGE), {}, { stopDeadlineMs: NEVER_MS })
    const [posting, owing] = [await rawConnection(port), await rawConnection(port)]
    posting.write(post(key, 'content-length: 36\r\nexpect: 100-continue'))
    await once(posting, 'data')
    await converse(owing, post('none', 'content-length: 2'))
    const loading = await readSlowly(port, key)
    const { closed } = await beginStop(port, close)
    const answered = await converse(posting, '{"model":"acme/one", "messages": []}')
    expect(answered.statusCode).toBe(200)
    expect(answered.headers.connection).toBe('close')
    owing.write('{}')
    expect(JSON.parse(parseAnswer(await text(loading)).body).data).toHaveLength(LARGE.length)
    await closed
  })

  test('ends all listening with HOST=localhost, which is one address', async () => {
    const { url, port, close } = await start(await workspace(), { HOST: 'localhost' })
    expect(url).toBe(`http://localhost:${port}`)
    assertEnvelope(await rawAnswer(port, 'nonsense\r\n\r\n'), 400)
    await expect(once(connect(port, '::1'), 'connect')).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT/)
    await rawConnection(port)
    await close()
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
  })
})
