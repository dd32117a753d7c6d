import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TrustProxy } from '../../server/base/config.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { StoreUnavailableError } from '../../server/store/retry.ts'
import { NOW, RANKINGS, testApp } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { testStore } from '../support/store.ts'

describe('authentication', () => {
  test('a missing header is 401', async () => {
    const { app } = await testApp()
    for (const headers of [{}, { authorization: '' }]) {
      const answer = await app.inject({ url: RANKINGS, headers })
      const body = assertEnvelope(answer, 401)
      expect(body.error.message).toBe('Missing Authentication header')
      expect(body.user_id).toBeUndefined()
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
  })

  test('unknown, revoked, expired and broken keys get one and the same 401', async () => {
    const { app, store, createKey } = await testApp()
    const expired = await createKey({ expiresAt: NOW })
    const revoked = await createKey({ name: 'revoked' })
    await store.db
      .updateTable('api_keys')
      .set({ revoked_at: NOW.toISOString() })
      .where('name', '=', 'revoked')
      .execute()
    const bodies = new Set<string>()
    for (const authorization of [
      `Bearer ${expired}`,
      `Bearer ${revoked}`,
      'Bearer sk-tb-v1-unknown',
      `Bearer ${await createKey()}0`,
      `Basic ${await createKey()}`,
      'Bearer',
      await createKey(),
    ]) {
      const answer = await app.inject({ url: RANKINGS, headers: { authorization } })
      assertEnvelope(answer, 401)
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      bodies.add(answer.body)
    }
    expect([...bodies]).toEqual(['{"error":{"code":401,"message":"Invalid API key"}}'])
  })

  test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('the scheme may be written "%s"', async (scheme) => {
    const { app, publicDir, createKey } = await testApp()
    await publish(publicDir, sampleRows({ days: 2 }))
    const answer = await app.inject({ url: RANKINGS, headers: { authorization: `${scheme} ${await createKey()}` } })
    expect(answer.statusCode).toBe(200)
  })

  test('a key works until the instant it expires', async () => {
    let now = NOW
    const { app, publicDir, createKey } = await testApp({ clock: () => now })
    await publish(publicDir, sampleRows({ days: 2 }))
    const secret = await createKey({ expiresAt: new Date(NOW.getTime() + 1000) })
    const get = () => app.inject({ url: RANKINGS, headers: { authorization: `Bearer ${secret}` } })
    expect((await get()).statusCode).toBe(200)
    now = new Date(NOW.getTime() + 1000)
    assertEnvelope(await get(), 401)
  })
})

describe('order of checks', () => {
  test('an unknown route is 404 for everyone, whatever the body', async () => {
    const { app, authorized } = await testApp()
    for (const [method, url] of [
      ['GET', '/api/v1/nothing'],
      ['POST', '/api/v1/nothing'],
      ['DELETE', '/nothing'],
      ['OPTIONS', '/api/v1/nothing'],
      ['GET', `${RANKINGS}/`],
      ['GET', '/api/v2/datasets/rankings-daily'],
    ] as const) {
      const body = assertEnvelope(await app.inject({ method, url, headers: authorized, payload: '{' }), 404)
      expect(body.error.message).toBe('Resource not found')
      expect(body.user_id).toBeUndefined()
    }
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])(
    '%s is 405 with Allow, before 401 and 415',
    async (method) => {
      const { app } = await testApp()
      for (const url of [RANKINGS, `${RANKINGS}?start_date=x`, '/healthz']) {
        const answer = await app.inject({
          method: method as 'POST',
          url,
          headers: { 'content-type': 'text/xml' },
          ...(method === 'TRACE' ? {} : { payload: '<x/>' }),
        })
        assertEnvelope(answer, 405)
        expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
      }
    },
  )

  test('a published file knows GET and HEAD alone', async () => {
    const { app, publicDir } = await testApp()
    await writeFile(join(publicDir, 'data.csv'), 'x')
    const answer = await app.inject({ method: 'POST', url: '/data.csv' })
    assertEnvelope(answer, 405)
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
  })

  test('401 comes before 400', async () => {
    const { app } = await testApp()
    assertEnvelope(await app.inject(`${RANKINGS}?start_date=x`), 401)
  })

  test.each(['/%', '/%zz', '/api/v1/%c3%28', `${RANKINGS}/%`])(
    'the path %s, which cannot be decoded, is unknown',
    async (url) => {
      const { app, log } = await testApp()
      const answer = await app.inject(url)
      assertEnvelope(answer, 404)
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(log.lines().filter(({ msg }) => msg === 'request')).toMatchObject([{ url, status: 404 }])
    },
  )

  test.each(['%', '%zz', 'a%c3'])('a known path with %s in a parameter is checked in the same order', async (slug) => {
    const { app } = await testApp()
    assertEnvelope(await app.inject(`/api/v1/presets/${slug}`), 401)
    const answer = await app.inject({ method: 'DELETE', url: `/api/v1/presets/${slug}` })
    assertEnvelope(answer, 405)
  })

  test('an encoded letter is that letter, for a wrong method too', async () => {
    const { app } = await testApp()
    assertEnvelope(await app.inject('/api/v1/%6Bey'), 401)
    assertEnvelope(await app.inject({ method: 'POST', url: '/api/v1/%6Bey' }), 405)
  })
})

describe('CORS', () => {
  test('a preflight is answered 204 without a key', async () => {
    const { app } = await testApp()
    const answer = await app.inject({
      method: 'OPTIONS',
      url: RANKINGS,
      headers: {
        origin: 'https://example.org',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    })
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    })
    expect(answer.headers['access-control-allow-headers']).toBe('authorization')
  })

  const OPERATIONS = [
    RANKINGS,
    '/api/v1/key',
    '/api/v1/embeddings/models',
    '/api/v1/presets',
    '/api/v1/presets/one',
    '/api/v1/presets/one/versions',
    '/api/v1/presets/one/versions/1',
    '/api/v1/presets/one/messages',
  ]
  const preflight = async (url: string, asked?: string) => {
    const { app } = await testApp()
    const headers = asked === undefined ? {} : { 'access-control-request-headers': asked }
    const answer = await app.inject({ method: 'OPTIONS', url, headers: { origin: 'https://example.org', ...headers } })
    expect(answer.statusCode).toBe(204)
    return answer.headers
  }

  test.each(OPERATIONS)('a preflight of %s allows the headers that it asks for', async (url) => {
    const asked = 'authorization,content-type,http-referer,user-agent,x-openrouter-title,x-whatever'
    expect(await preflight(url, asked)).toMatchObject({
      'access-control-allow-headers': asked.replaceAll(',', ', '),
      vary: 'Access-Control-Request-Headers',
    })
  })

  test.each([undefined, '', ' , ', 'a b', 'ü'])(
    'a preflight that asks for %j gets the headers that the API reads',
    async (asked) => {
      const headers = await preflight(RANKINGS, asked)
      expect(String(headers['access-control-allow-headers']).split(', ')).toContain('Authorization')
      expect(headers.vary).toBe('Access-Control-Request-Headers')
    },
  )

  test('only names of headers are repeated', async () => {
    const headers = await preflight(RANKINGS, 'x-one,"two",<three>,x-four: five,,x-six')
    expect(headers['access-control-allow-headers']).toBe('x-one, x-six')
  })

  test('every answer may be read by any origin, errors included, without cookies', async () => {
    const { app, publicDir, authorized } = await testApp()
    await publish(publicDir, sampleRows({ days: 2 }))
    for (const request of [
      { url: RANKINGS, headers: authorized },
      { url: RANKINGS },
      { url: '/none' },
      { url: '/%' },
    ]) {
      const { headers } = await app.inject(request)
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['access-control-allow-credentials']).toBeUndefined()
      const exposed = String(headers['access-control-expose-headers']).split(', ')
      expect(exposed).toEqual(
        expect.arrayContaining([
          'Content-Location',
          'ETag',
          'Link',
          'Retry-After',
          'X-Attribution',
          'X-Content-Hash',
          'X-Dataset-End-Date',
          'X-Request-Id',
        ]),
      )
    }
  })
})

describe('health', () => {
  test('/healthz is 200 whatever the state', async () => {
    const { app, store } = await testApp()
    await store.close()
    const answer = await app.inject('/healthz')
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('/readyz waits for a release, and says so', async () => {
    const { app, publicDir } = await testApp()
    const before = assertEnvelope(await app.inject('/readyz'), 503)
    expect(before.error.metadata).toEqual({ dataset: 'not loaded', store: 'ok' })
    const release = await publish(publicDir, sampleRows({ days: 2 }))
    await app.releases.check()
    const answer = await app.inject('/readyz')
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ready', release }])
  })

  test('/readyz is 503 when the store does not respond', async () => {
    const { app, publicDir, store } = await testApp()
    await publish(publicDir, sampleRows({ days: 2 }))
    await app.ready()
    await store.close()
    const body = assertEnvelope(await app.inject('/readyz'), 503)
    expect(body.error.metadata).toEqual({ dataset: 'ok', store: 'no answer' })
  })

  test('/readyz is 503 also when the store never answers', async () => {
    const store = await testStore()
    const { app, publicDir } = await testApp({ store: { ...store, ping: () => new Promise(() => {}) } })
    await publish(publicDir, sampleRows({ days: 2 }))
    await app.ready()
    const body = assertEnvelope(await app.inject('/readyz'), 503)
    expect(body.error.metadata).toEqual({ dataset: 'ok', store: 'no answer' })
  })
})

describe('a store that is lost', () => {
  test('is a 503 that says when to try again, and nothing of the cause but in the log', async () => {
    const store = await testStore()
    const { secret } = await apiKeys(store).create({ isManagement: true }, NOW)
    const lost = () => Promise.reject(new StoreUnavailableError('connect ECONNREFUSED 192.0.2.1:5432'))
    let isLost = false
    const { app, log } = await testApp({ store: { ...store, write: (work) => (isLost ? lost() : store.write(work)) } })
    isLost = true
    const headers = { authorization: `Bearer ${secret}` }
    const url = '/api/v1/presets/agent/messages'
    const answer = await app.inject({ method: 'POST', url, headers, payload: { model: 'acme/one', messages: [] } })
    expect(assertEnvelope(answer, 503).error.message).toBe('The service is not available. Please try again later.')
    expect(answer.headers['retry-after']).toBe('5')
    expect(log.lines()).toContainEqual(expect.objectContaining({ level: 50, msg: 'the store does not respond' }))
    expect(log.text()).toContain('ECONNREFUSED')
  })
})

describe('unexpected errors', () => {
  test('are a 500 that says nothing, and a log line that says all', async () => {
    const { app, store, log, authorized } = await testApp()
    await app.ready()
    await store.close()
    const answer = await app.inject({ url: RANKINGS, headers: authorized })
    expect(assertEnvelope(answer, 500).error).toEqual({ code: 500, message: 'Internal Server Error' })
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ msg: 'unexpected error', err: expect.objectContaining({ stack: expect.any(String) }) }),
    )
  })

  test('of the file system name no path', async () => {
    const { app, publicDir } = await testApp()
    await mkdir(join(publicDir, 'x.csv'), { mode: 0o000 })
    assertEnvelope(await app.inject('/x.csv'), 404)
  })
})

describe('logs', () => {
  test('are one line a request, with what happened', async () => {
    const { app, log } = await testApp()
    await app.ready()
    const before = log.lines().length
    const answer = await app.inject('/none?x=1')
    const added = log.lines().slice(before)
    expect(added).toEqual([
      expect.objectContaining({
        msg: 'request',
        reqId: answer.headers['x-request-id'],
        method: 'GET',
        url: '/none?x=1',
        status: 404,
        address: '127.0.0.1',
        elapsed_ms: expect.any(Number),
      }),
    ])
  })

  test('never hold a key, its hash or the Authorization header, wherever a client put them', async () => {
    const { app, store, log, authorized, createKey } = await testApp()
    const secret = await createKey({ name: 'leaky' })
    const { hash } = await store.db
      .selectFrom('api_keys')
      .select('hash')
      .where('name', '=', 'leaky')
      .executeTakeFirstOrThrow()
    const headers = { authorization: `Bearer ${secret}` }
    await app.inject({ url: RANKINGS, headers })
    await app.inject({ url: `${RANKINGS}?start_date=${secret}`, headers })
    await app.inject({ url: `/${secret}?key=${secret}`, headers })
    await app.inject({ url: `/%/${secret}`, headers })
    await store.close()
    await app.inject({ url: RANKINGS, headers })
    const random = secret.slice('sk-tb-v1-'.length)
    expect(log.text()).not.toContain(random)
    expect(log.text()).not.toContain(hash)
    expect(log.text()).not.toMatch(/authorization|bearer/i)
    expect(log.text()).toContain('[secret]')
    expect(authorized.authorization).toContain('sk-tb-v1-')
  })

  test('x-request-id differs by request', async () => {
    const { app } = await testApp()
    const ids = [await app.inject('/healthz'), await app.inject('/healthz')].map(
      ({ headers }) => headers['x-request-id'],
    )
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(ids[0]).not.toBe(ids[1])
  })
})

describe('TRUST_PROXY', () => {
  test.each<[string, TrustProxy, string]>([
    ['nobody', false, '127.0.0.1'],
    ['one proxy', 1, '3.3.3.3'],
    ['two proxies', 2, '2.2.2.2'],
    ['an address', ['127.0.0.1'], '3.3.3.3'],
    ['another address', ['10.0.0.1'], '127.0.0.1'],
  ])('%s', async (_name, trustProxy, address) => {
    const { app, log } = await testApp({ trustProxy })
    await app.inject({ url: '/healthz', headers: { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 3.3.3.3' } })
    expect(log.lines().at(-1)).toMatchObject({ address })
  })
})
