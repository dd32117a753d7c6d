import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { TrustProxy } from '../../server/base/config.ts'
import { RANKINGS, testApp } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { testStore } from '../support/store.ts'

vi.mock('node:timers/promises', async (load) => {
  const real = await load<typeof import('node:timers/promises')>()
  return { ...real, setTimeout: vi.fn(real.setTimeout) }
})

describe('health', () => {
  test('/healthz is 200 even when the store is closed', async () => {
    const { app, store } = await testApp()
    await store.close()
    const answer = await app.inject('/healthz')
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('/readyz is 503 until there is a release, and names it then', async () => {
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

  test('/readyz is 503 when the store has not answered for two seconds', async () => {
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

describe('logs', () => {
  test('never contain a key, its hash or the Authorization header, wherever a client puts them', async () => {
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
})

describe('TRUST_PROXY', () => {
  test.each<[string, TrustProxy, string]>([
    ['no proxy', false, '127.0.0.1'],
    ['one proxy', 1, '3.3.3.3'],
    ['two proxies', 2, '2.2.2.2'],
    ['the address of the proxy', ['127.0.0.1'], '3.3.3.3'],
    ['another address', ['10.0.0.1'], '127.0.0.1'],
  ])(
    'trusts %s: the client address in the log is that of the last hop before it',
    async (_name, trustProxy, address) => {
      const { app, log } = await testApp({ trustProxy })
      await app.inject({ url: '/healthz', headers: { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 3.3.3.3' } })
      expect(log.lines().at(-1)).toMatchObject({ address })
    },
  )
})
