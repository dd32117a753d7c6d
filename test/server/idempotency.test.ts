/** `Idempotency-Key`, beyond the exchanges in `test/server/exchanges/idempotency.http`. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { presets } from '../../server/store/presets.ts'
import type { Store } from '../../server/store/store.ts'
import { NOW } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { PRESETS, type PresetApp, type PresetClient, presetApp, REQUEST } from '../support/presets.ts'
import { tries } from '../support/property.ts'
import { blockWriters, storeUrl, testStore } from '../support/store.ts'

const HOUR_MS = 60 * 60 * 1000
const AUTHOR = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }
const CONTENT = { config: { model: 'acme/one' }, system_prompt: null }

const REQUESTS = fc.record({
  server: fc.constantFrom(0, 1),
  apiKey: fc.constantFrom(0, 1),
  operation: fc.constantFrom('messages', 'responses'),
  slug: fc.constantFrom('a', 'b'),
  idempotencyKey: fc.constantFrom(undefined, 'one', 'two'),
  model: fc.constantFrom('acme/one', 'acme/two'),
})
type Asked = typeof REQUESTS extends fc.Arbitrary<infer R> ? R : never

/** Requests that are sent at once, some time after those before. */
const STEPS = fc.array(
  fc.record({
    hours: fc.constantFrom(0, 1, 11, 23, 24),
    requests: fc.array(REQUESTS, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 8, maxLength: 16 },
)

/** What must have been answered under a name, so that it comes again. */
interface Remembered {
  model: string
  body: string
  until: number
}

test('two servers on one store make a version per key, operation and body of 24 hours, and repeat its answer', async () => {
  const { options } = tries({ seed: 43 })
  await fc.assert(fc.asyncProperty(STEPS, followsModel), { ...options, numRuns: 12 })
})

async function followsModel(steps: { hours: number; requests: Asked[] }[]): Promise<void> {
  let now = NOW.getTime()
  const url = await storeUrl()
  const clock = () => new Date(now)
  const servers = await Promise.all([0, 1].map(async () => presetApp({ store: await testStore(url), clock })))
  const remembered = new Map<string, Remembered>()
  const made: Record<string, number> = { a: 0, b: 0 }
  for (const { hours, requests } of steps) {
    now += hours * HOUR_MS
    const answers = await Promise.all(requests.map((request) => ask(servers, request)))
    for (const { slug, isNew } of answers) if (isNew) made[slug] = (made[slug] ?? 0) + 1
    for (const [name, ofName] of Map.groupBy(answers, nameOf)) {
      const known = remembered.get(name)
      const valid = known !== undefined && known.until > now ? known : undefined
      if (name.endsWith(' ')) expect(ofName.filter(({ isNew }) => !isNew)).toEqual([])
      else remembered.set(name, { until: now + 24 * HOUR_MS, ...expectOnce(ofName, valid) })
    }
  }
  for (const [slug, count] of Object.entries(made)) {
    const answer = await servers[0]?.ada.get(`/${slug}/versions?limit=1`)
    expect(answer?.json().total_count ?? 0, slug).toBe(count)
  }
}

interface Answered extends Asked {
  status: number
  body: string
  isNew: boolean
}

async function ask(servers: PresetApp[], request: Asked): Promise<Answered> {
  const { server, apiKey, operation, slug, idempotencyKey, model } = request
  const answer = await servers[server]?.app.inject({
    method: 'POST',
    url: `${PRESETS}/${slug}/${operation}`,
    headers: {
      ...servers[apiKey]?.ada.headers,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    payload: { model, messages: [] },
  })
  if (answer === undefined) throw new Error('there are two servers')
  const { statusCode: status, body, headers } = answer
  return { ...request, status, body, isNew: status === 200 && headers['idempotency-replayed'] === undefined }
}

function nameOf({ apiKey, operation, slug, idempotencyKey }: Asked): string {
  return `${apiKey} ${operation} ${slug} ${idempotencyKey ?? ''}`
}

/** Answers to requests of one name that were sent at once. Returns what the name stands for from now on. */
function expectOnce(answers: Answered[], valid: Remembered | undefined): Pick<Remembered, 'model' | 'body'> {
  const fresh = answers.filter(({ isNew }) => isNew)
  expect(fresh).toHaveLength(valid === undefined ? 1 : 0)
  const [first = valid] = fresh
  if (first === undefined) throw new Error('a request has an answer')
  for (const { status, model, body } of answers) {
    if (status === 200) expect([model, body]).toEqual([first.model, first.body])
    else if (model === first.model) expect(body).toMatch(/"code":409,.*Another request with this Idempotency-Key/)
    else expect(body).toMatch(/"code":409,.*Idempotency-Key (was used with another body|is in progress)/)
  }
  // Alone, a request gets the answer of before if it has the body of before.
  if (answers.length === 1) expect(answers[0]?.status).toBe(answers[0]?.model === first.model ? 200 : 409)
  return valid ?? first
}

const HEADERS = { 'idempotency-key': 'one', 'content-type': 'application/json' }

test('while a request is under way, its twin is a 409 with Retry-After, and other requests are not', async () => {
  const { app, ada } = await presetApp()
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const twin = () => ada.post('agent', REQUEST, HEADERS)
  let slow = await begin(Number(port), ada)
  // The twin may come first: the store is asked for its API key meanwhile.
  for (let tries = 0; tries < 50 && (await twin()).statusCode === 200; tries++) {
    slow.destroy()
    slow = await begin(Number(port), ada)
  }
  const refused = await twin()
  expect(assertEnvelope(refused, 409).error.message).toBe(
    'Another request with this Idempotency-Key is in progress. Please try again later.',
  )
  expect(refused.headers['retry-after']).toBe('1')
  assertEnvelope(await ada.post('agent', '{}', HEADERS), 400)
  expect((await ada.post('other', REQUEST, HEADERS)).statusCode).toBe(200)
  expect((await ada.post('agent', REQUEST, { ...HEADERS, 'idempotency-key': 'two' })).statusCode).toBe(200)
  slow.destroy()
  await expect.poll(async () => (await twin()).statusCode).toBe(200)
})

/** Sends a request without most of its body, and waits until the server has begun with it. */
async function begin(port: number, { headers }: PresetClient): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  const lines = Object.entries({ host: 'x', ...HEADERS, ...headers, 'content-length': '100', expect: '100-continue' })
  const head = [`POST ${PRESETS}/agent/messages HTTP/1.1`, ...lines.map((line) => line.join(': '))].join('\r\n')
  socket.write(`${head}\r\n\r\n{`)
  const [first] = await once(socket, 'data')
  expect(String(first)).toMatch(/^HTTP\/1\.1 100 /)
  return socket
}

test('a repeated header is a 400', async () => {
  const { app, ada } = await presetApp()
  const headers = { ...ada.headers, 'idempotency-key': ['one', 'one'] as unknown as string }
  const answer = await app.inject({ method: 'POST', url: `${PRESETS}/agent/messages`, headers, payload: REQUEST })
  expect(assertEnvelope(answer, 400).error.message).toBe('idempotency-key must appear once')
})

test('a request that another writer blocks is a 409 with Retry-After, and is done when it comes again', async () => {
  const url = await storeUrl()
  const { ada } = await presetApp({ store: await testStore(url, 50) })
  const release = await blockWriters(url)
  const refused = await ada.post('agent', REQUEST, HEADERS)
  assertEnvelope(refused, 409)
  expect(refused.headers['retry-after']).toBe('1')
  await release()
  await expect.poll(async () => (await ada.post('agent', REQUEST, HEADERS)).statusCode).toBe(200)
  expect((await ada.get('/agent')).json().data.designated_version.version).toBe(1)
})

describe('a failed transaction', () => {
  test.each([
    ['when it adds the version', { name: 'a', bodyHash: 'h' }, 'preset_versions'],
    // As the last statement: the column refuses null.
    ['when it keeps the answer', { name: 'a', bodyHash: null as unknown as string }, undefined],
  ])('leaves neither version nor answer: %s', async (_, once, missing) => {
    const store = await testStore()
    const stored = presets(store, () => NOW)
    if (missing !== undefined) await store.db.schema.alterTable(missing).renameTo('aside').execute()
    await expect(stored.addVersionOnce(AUTHOR, 'agent', CONTENT, once)).rejects.toThrow()
    if (missing !== undefined) await store.db.schema.alterTable('aside').renameTo(missing).execute()
    expect(await store.db.selectFrom('preset_versions').select('id').execute()).toEqual([])
    expect(await namesIn(store)).toEqual([])
    const again = await stored.addVersionOnce(AUTHOR, 'agent', CONTENT, { name: 'a', bodyHash: 'h' })
    expect(again).toMatchObject({ isReplayed: false, preset: { designated_version: { version: 1 } } })
  })
})

test('each kept answer removes at most 20 expired ones', async () => {
  let now = NOW
  const store = await testStore()
  const stored = presets(store, () => now)
  const add = (name: string) => stored.addVersionOnce(AUTHOR, 'agent', CONTENT, { name, bodyHash: 'h' })
  for (let index = 0; index < 30; index++) await add(`old-${index}`)
  now = new Date(NOW.getTime() + 12 * HOUR_MS)
  await add('newer')
  now = new Date(NOW.getTime() + 24 * HOUR_MS)
  await add('first')
  expect(await namesIn(store)).toHaveLength(30 - 20 + 2)
  await add('second')
  expect((await namesIn(store)).toSorted()).toEqual(['first', 'newer', 'second'])
})

async function namesIn({ db }: Store): Promise<string[]> {
  return (await db.selectFrom('idempotency_keys').select('name').execute()).map(({ name }) => name)
}
