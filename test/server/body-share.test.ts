import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { bodyShare, MOST_BODY_BYTES_EACH } from '../../server/api/body-share.ts'
import { MAX_BODY_BYTES } from '../../server/api/routes/presets.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { PRESETS, type PresetClient, presetApp, REQUEST } from '../support/presets.ts'

const LARGEST_AT_ONCE = MOST_BODY_BYTES_EACH / MAX_BODY_BYTES
const CHUNKED = 'transfer-encoding: chunked'

async function listening() {
  const { app, ada, clientWith } = await presetApp()
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const eve = await clientWith({ userId: 'user_eve', isManagement: true })
  const requests = { begun: 0, ended: 0 }
  app.server.on('request', (_request, answer) => {
    requests.begun++
    answer.once('close', () => requests.ended++)
  })
  /** Sends the head of a request and what is given of its body. Resolves when the server has the head. */
  async function begin({ headers }: PresetClient, field: string, body = ''): Promise<Socket> {
    const { begun } = requests
    const socket = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(
      `POST ${PRESETS}/agent/messages HTTP/1.1\r\nhost: x\r\nauthorization: ${headers.authorization}\r\ncontent-type: application/json\r\nconnection: close\r\n${field}\r\n\r\n${body}`,
    )
    await expect.poll(() => requests.begun).toBe(begun + 1)
    return socket
  }
  return { ada, eve, begin, requests }
}

function chunk(bytes: string): string {
  return `${bytes.length.toString(16)}\r\n${bytes}\r\n`
}

test('one key has bodies of at most 8 MiB under way; others are not refused, and it is not when they have ended', async () => {
  const { ada, eve, begin, requests } = await listening()
  const held: Socket[] = []
  for (let count = 0; count < LARGEST_AT_ONCE; count++) held.push(await begin(ada, `content-length: ${MAX_BODY_BYTES}`))
  const refused = await ada.post('agent')
  assertEnvelope(refused, 429)
  expect(refused.headers['retry-after']).toBe('5')
  expect((await eve.post('agent')).statusCode).toBe(200)
  expect((await ada.get()).statusCode).toBe(200)
  for (const socket of held) socket.destroy()
  await expect.poll(() => requests.ended).toBe(LARGEST_AT_ONCE)
  expect((await ada.post('agent')).statusCode).toBe(200)
})

test('a body that is too large to be read takes no room', async () => {
  const { ada, begin } = await listening()
  for (let count = 0; count < LARGEST_AT_ONCE; count++) await begin(ada, `content-length: ${MAX_BODY_BYTES + 1}`)
  expect((await ada.post('agent')).statusCode).toBe(200)
})

test('a client that left while its key was looked up takes no room', async () => {
  const key = { id: 'one' }
  const { onRequest } = bodyShare(MAX_BODY_BYTES)
  const isLet = (closed: boolean) => {
    const raw = Object.assign(new EventEmitter(), { closed })
    const request = { apiKey: key, headers: { 'content-length': `${MAX_BODY_BYTES}` } }
    let isDone = false
    onRequest.call({} as never, request as never, { raw } as never, () => (isDone = true))
    return isDone
  }
  for (let count = 0; count <= LARGEST_AT_ONCE; count++) expect(isLet(true)).toBe(true)
  for (let count = 0; count < LARGEST_AT_ONCE; count++) expect(isLet(false)).toBe(true)
  expect(() => isLet(false)).toThrow('Too many large bodies')
})

test('what is dropped of a body that is too large takes no room', async () => {
  const { ada, begin } = await listening()
  for (let count = 0; count < LARGEST_AT_ONCE; count++) {
    const large = await begin(ada, CHUNKED, `${chunk('x'.repeat(12 * 2 ** 20))}0\r\n\r\n`)
    expect(await text(large)).toMatch(/^HTTP\/1\.1 413 /)
  }
  for (let count = 0; count < LARGEST_AT_ONCE; count++) await begin(ada, `content-length: ${MAX_BODY_BYTES - 1000}`)
  expect((await ada.post('agent')).statusCode).toBe(200)
})

test('bodies of unknown length count as they arrive', async () => {
  const { ada, eve, begin } = await listening()
  await begin(ada, `content-length: ${MAX_BODY_BYTES}`)
  await begin(ada, `content-length: ${MAX_BODY_BYTES - 1000}`)
  const small = await begin(ada, CHUNKED, `${chunk(JSON.stringify(REQUEST))}0\r\n\r\n`)
  expect(await text(small)).toMatch(/^HTTP\/1\.1 200 /)
  const large = await begin(ada, CHUNKED, `${chunk('['.repeat(1001))}0\r\n\r\n`)
  expect(await text(large)).toMatch(/^HTTP\/1\.1 429 .+retry-after: 5\r.+"code":429/is)
  const other = await begin(eve, CHUNKED, `${chunk(' '.repeat(2000))}${chunk(JSON.stringify(REQUEST))}0\r\n\r\n`)
  expect(await text(other)).toMatch(/^HTTP\/1\.1 200 /)
})

test.each([
  { status: 429, held: LARGEST_AT_ONCE },
  { status: 413, held: 0 },
])(
  'a body that is refused with $status while it arrives is read to its end, so that the client sees the answer',
  async ({ status, held }) => {
    const { ada, begin } = await listening()
    for (let count = 0; count < held; count++) await begin(ada, `content-length: ${MAX_BODY_BYTES}`)
    const socket = await begin(ada, CHUNKED)
    socket.pause()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.write(`${chunk('x'.repeat(12 * 2 ** 20))}0\r\n\r\n`, (error) => (error ? reject(error) : resolve()))
    await promise
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  },
)
