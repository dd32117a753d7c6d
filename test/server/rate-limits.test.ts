import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { NO_RATE_LIMITS, networkOf } from '../../server/api/rate-limits.ts'
import type { RateLimitSettings } from '../../server/base/config.ts'
import { NOW, testApp } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'

const KEY = '/api/v1/key'
const PRESETS = '/api/v1/presets/mine/messages'
const BAD = { authorization: `Bearer sk-tb-v1-${'0'.repeat(64)}` }

/** An app with some limits on, and a clock that goes when it is told to. */
async function limited(settings: Partial<RateLimitSettings>) {
  let now = NOW.getTime()
  const clock = () => new Date(now)
  const test = await testApp({ clock, rateLimitSettings: { ...NO_RATE_LIMITS, ...settings }, trustProxy: 1 })
  const keyOf = async (userId: string) => ({ authorization: `Bearer ${await test.createKey({ userId })}` })
  return { ...test, keyOf, pass: (seconds: number) => (now += seconds * 1000) }
}

function get(app: FastifyInstance, headers: Record<string, string>) {
  return app.inject({ url: KEY, headers })
}

async function statuses(count: number, ask: () => ReturnType<typeof get>): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i++) found.push((await ask()).statusCode)
  return found
}

describe('RATE_LIMIT_PER_MINUTE', () => {
  test('lets exactly so many requests of a key pass in a minute that begins with the first', async () => {
    const { app, authorized, pass } = await limited({ perMinute: 3 })
    expect(await statuses(4, () => get(app, authorized))).toEqual([200, 200, 200, 429])
    pass(59.999)
    expect(await statuses(1, () => get(app, authorized))).toEqual([429])
    pass(0.001)
    expect(await statuses(4, () => get(app, authorized))).toEqual([200, 200, 200, 429])
  })

  test('counts each key for itself, also of one account', async () => {
    const { app, keyOf } = await limited({ perMinute: 1 })
    const [first, second] = [await keyOf('user_ada'), await keyOf('user_ada')]
    expect(await statuses(2, () => get(app, first))).toEqual([200, 429])
    expect(await statuses(2, () => get(app, second))).toEqual([200, 429])
  })

  test('a refused request is not counted: it does not put off the end', async () => {
    const { app, authorized, pass } = await limited({ perMinute: 1 })
    for (let i = 0; i < 59; i++) {
      await get(app, authorized)
      pass(1)
    }
    pass(1)
    expect((await get(app, authorized)).statusCode).toBe(200)
  })

  test('a clock that is set back does not shut anyone out', async () => {
    const { app, authorized, pass } = await limited({ perMinute: 1 })
    await get(app, authorized)
    pass(-3600)
    expect((await get(app, authorized)).statusCode).toBe(200)
  })
})

describe('RATE_LIMIT_PER_DAY', () => {
  test('lets exactly so many requests of all keys of an account pass in 24 hours', async () => {
    const { app, keyOf, pass } = await limited({ perDay: 3 })
    const [first, second, stranger] = [await keyOf('user_a'), await keyOf('user_a'), await keyOf('user_b')]
    expect(await statuses(2, () => get(app, first))).toEqual([200, 200])
    expect(await statuses(2, () => get(app, second))).toEqual([200, 429])
    expect(await statuses(1, () => get(app, stranger))).toEqual([200])
    pass(86_400 - 0.001)
    expect(await statuses(1, () => get(app, first))).toEqual([429])
    pass(0.001)
    expect(await statuses(1, () => get(app, first))).toEqual([200])
  })

  test('what the limit of the minute refused does not count for the day', async () => {
    const { app, authorized, pass } = await limited({ perMinute: 1, perDay: 2 })
    expect(await statuses(5, () => get(app, authorized))).toEqual([200, 429, 429, 429, 429])
    pass(60)
    expect(await statuses(1, () => get(app, authorized))).toEqual([200])
  })
})

describe('RATE_LIMIT_BAD_KEYS_PER_MINUTE', () => {
  const from = (address: string, headers: Record<string, string> = BAD) => ({ ...headers, 'x-forwarded-for': address })

  test('answers exactly so many bad keys of an address by 401, and then by 429', async () => {
    const { app, pass } = await limited({ badKeysPerMinute: 2 })
    expect(await statuses(3, () => get(app, from('198.51.100.7')))).toEqual([401, 401, 429])
    expect(await statuses(1, () => get(app, from('198.51.100.8')))).toEqual([401])
    pass(60)
    expect(await statuses(3, () => get(app, from('198.51.100.7')))).toEqual([401, 401, 429])
  })

  test('counts unknown, revoked, expired and malformed keys alike, so that it tells nothing about them', async () => {
    const { app, store, createKey } = await limited({ badKeysPerMinute: 4 })
    const revoked = await createKey()
    await store.db.updateTable('api_keys').set({ revoked_at: NOW.toISOString() }).execute()
    const expired = await createKey({ expiresAt: NOW })
    const headers = [BAD.authorization, `Bearer ${revoked}`, `Bearer ${expired}`, 'Basic YTpi']
    for (const authorization of headers) expect((await get(app, { authorization })).statusCode).toBe(401)
    for (const authorization of headers) expect((await get(app, { authorization })).statusCode).toBe(429)
  })

  test('never counts a missing header, and answers it by 401 whatever its address did', async () => {
    const { app } = await limited({ badKeysPerMinute: 1 })
    expect(await statuses(5, () => get(app, {}))).toEqual([401, 401, 401, 401, 401])
    expect(await statuses(2, () => get(app, BAD))).toEqual([401, 429])
    expect(await statuses(1, () => get(app, {}))).toEqual([401])
  })

  test('never refuses a valid key for its address, nor counts it', async () => {
    const { app, authorized } = await limited({ badKeysPerMinute: 1 })
    expect(await statuses(3, () => get(app, authorized))).toEqual([200, 200, 200])
    expect(await statuses(2, () => get(app, BAD))).toEqual([401, 429])
    expect(await statuses(3, () => get(app, authorized))).toEqual([200, 200, 200])
  })

  test('counts an IPv6 address with all others of its /64', async () => {
    const { app } = await limited({ badKeysPerMinute: 1 })
    expect(await statuses(1, () => get(app, from('2001:db8:1:2::1')))).toEqual([401])
    expect(await statuses(1, () => get(app, from('2001:DB8:1:2:ffff::9')))).toEqual([429])
    expect(await statuses(1, () => get(app, from('2001:db8:1:3::1')))).toEqual([401])
  })

  test('a 429 for a bad key names no user and asks for no authentication', async () => {
    const { app } = await limited({ badKeysPerMinute: 1 })
    await get(app, BAD)
    const refused = await get(app, BAD)
    expect(assertEnvelope(refused, 429).user_id).toBeUndefined()
    expect(refused.headers['www-authenticate']).toBeUndefined()
    expect(refused.headers['retry-after']).toBe('60')
  })
})

describe('the answer', () => {
  test('of a refused request is the 429 of API.md, with the seconds until it may be tried again', async () => {
    const { app, authorized, pass } = await limited({ perMinute: 1 })
    await get(app, authorized)
    pass(12.5)
    const refused = await get(app, authorized)
    expect(assertEnvelope(refused, 429)).toEqual({
      error: { code: 429, message: 'Rate limit exceeded' },
      user_id: 'user_ada',
    })
    expect(refused.headers).toMatchObject({
      'retry-after': '48',
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '48',
      'ratelimit-policy': '1;w=60',
    })
  })

  test('of a request that passed tells the limit that is used up first, and the policy of all', async () => {
    const { app, authorized, pass } = await limited({ perMinute: 2, perDay: 3 })
    expect((await get(app, authorized)).headers).toMatchObject({
      'ratelimit-limit': '2',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '60',
      'ratelimit-policy': '2;w=60, 3;w=86400',
    })
    pass(60)
    await get(app, authorized)
    const last = await get(app, authorized)
    expect(last.statusCode).toBe(200)
    expect(last.headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '86340',
    })
    expect((await get(app, authorized)).headers['retry-after']).toBe('86340')
  })

  test('of any status has the fields: a 400 and a 404 were answered too', async () => {
    const { app, authorized } = await limited({ perMinute: 5 })
    const wrong = await app.inject({ url: '/api/v1/datasets/rankings-daily?end_date=x', headers: authorized })
    expect([wrong.statusCode, wrong.headers['ratelimit-remaining']]).toEqual([400, '4'])
  })

  test('has no such fields where no limit is on, and then nobody is refused', async () => {
    const { app, authorized } = await limited({})
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(app, authorized)))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(Object.keys(answers[0]?.headers ?? {}).filter((name) => name.startsWith('ratelimit'))).toEqual([])
  })

  test('lets pages of any origin read the fields', async () => {
    const { app, authorized } = await limited({ perMinute: 1 })
    const exposed = String((await get(app, authorized)).headers['access-control-expose-headers'])
    for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy', 'Retry-After'])
      expect(exposed).toContain(name)
  })
})

describe('order of checks', () => {
  test('401 before 429: a bad key is told so, however many requests passed', async () => {
    const { app, authorized } = await limited({ perMinute: 1 })
    expect(await statuses(2, () => get(app, authorized))).toEqual([200, 429])
    assertEnvelope(await get(app, BAD), 401)
  })

  test('429 before 403 and before the body is read', async () => {
    const { app, authorized } = await limited({ perMinute: 1 })
    const post = () =>
      app.inject({ method: 'POST', url: PRESETS, headers: { ...authorized, 'content-type': 'text/plain' }, body: '{' })
    assertEnvelope(await post(), 403)
    assertEnvelope(await post(), 429)
  })

  test('404 and 405 before 429, and uncounted', async () => {
    const { app, authorized } = await limited({ perMinute: 1 })
    const ask = (method: 'GET' | 'DELETE', url: string) => app.inject({ method, url, headers: authorized })
    assertEnvelope(await ask('GET', '/api/v1/nothing'), 404)
    assertEnvelope(await ask('DELETE', KEY), 405)
    expect((await get(app, authorized)).statusCode).toBe(200)
  })

  test('what needs no key is not limited', async () => {
    const { app } = await limited({ perMinute: 1, perDay: 1, badKeysPerMinute: 1 })
    expect(await statuses(5, () => app.inject({ url: '/healthz' }) as ReturnType<typeof get>)).toEqual(
      Array(5).fill(200),
    )
  })
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::FFFF:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::5:6:7:8:9', '2001:db8:0:5::/64'],
  ['2001:db8::4:1.2.3.4', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['example.org', 'unknown'],
  ['', 'unknown'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
