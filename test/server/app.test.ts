import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { TrustProxy } from '../../server/base/config.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { StoreUnavailableError } from '../../server/store/retry.ts'
import { NOW, RANKINGS, testApp } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { testStore } from '../support/store.ts'

vi.mock('node:timers/promises', async (load) => {
  const real = await load<typeof import('node:timers/promises')>()
  return { ...real, setTimeout: vi.fn(real.setTimeout) }
})

describe('order of checks', () => {
  test('a published file knows GET and HEAD alone', async () => {
    const { app, publicDir } = await testApp()
    await writeFile(join(publicDir, 'data.csv'), 'x')
    const answer = await app.inject({ method: 'POST', url: '/data.csv' })
    assertEnvelope(answer, 405)
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
  })
})

describe('CORS', () => {
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
    const asked = Promise.withResolvers<void>()
    const ping = () => {
      asked.resolve()
      return new Promise<void>(() => {})
    }
    // The two seconds that it is given pass by hand.
    const { promise: limit, resolve: end } = Promise.withResolvers<void>()
    vi.mocked(sleep).mockReturnValueOnce(limit)
    const { app, publicDir } = await testApp({ store: { ...store, ping } })
    await publish(publicDir, sampleRows({ days: 2 }))
    await app.ready()
    const answer = app.inject('/readyz')
    await asked.promise
    end()
    const body = assertEnvelope(await answer, 503)
    expect(body.error.metadata).toEqual({ dataset: 'ok', store: 'no answer' })
    expect(vi.mocked(sleep)).toHaveBeenCalledWith(2000, undefined, expect.anything())
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
