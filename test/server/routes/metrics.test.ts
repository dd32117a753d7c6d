import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../server/store/retry.ts'
import { RANKINGS, type TestApp, temporaryFolder, testApp } from '../../support/app.ts'
import { PRESETS } from '../../support/presets.ts'
import { publish, sampleRows } from '../../support/publish.ts'
import { rawAnswer, rawConnection, start, workspace } from '../../support/running-server.ts'
import { testStore } from '../../support/store.ts'

const TOKEN = 'a-token-of-this-test'
const PAGE = { accept: 'text/html' }

const metricsOf = async ({ app }: Pick<TestApp, 'app'>) => (await app.inject('/metrics')).body

test('the answer is text for Prometheus, and is not kept', async () => {
  const { app } = await testApp()
  const { statusCode, headers, body } = await app.inject('/metrics')
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
  })
  expect(body).toMatch(/^# HELP tokenboard_/)
})

describe('whoever may not read it gets the answer of a path that is not there', () => {
  /** The answer, without what differs from request to request and with one name for both paths. */
  async function answer({ app }: TestApp, path: string, options: InjectOptions) {
    const { statusCode, headers, body } = await app.inject({ ...options, url: path })
    const { 'x-request-id': _, date: __, ...same } = headers
    return { statusCode, headers: same, body: body.replaceAll(path, '/path') }
  }

  async function expectHidden(tested: TestApp, options: InjectOptions): Promise<void> {
    const hidden = await answer(tested, '/metrics', options)
    expect(hidden).toEqual(await answer(tested, '/nothing', options))
    expect(hidden.statusCode).toBe(404)
  }

  const REMOTE = { remoteAddress: '192.0.2.1' }
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

  test('with every method, of programs and of people, also on this machine with the token', async () => {
    const publicDir = await temporaryFolder()
    await writeFile(join(publicDir, 'index.html'), '<head><title>-</title>\n</head><main>\n<!-- nearest -->\n</main>')
    const tested = await testApp({ publicDir, metricsToken: TOKEN })
    for (const method of METHODS) {
      for (const headers of [{}, PAGE, { authorization: 'Bearer wrong' }, { origin: 'https://a.example' }]) {
        await expectHidden(tested, { ...REMOTE, method, headers })
      }
    }
    for (const method of METHODS.slice(2)) {
      await expectHidden(tested, { method, headers: { authorization: `Bearer ${TOKEN}` } })
    }
  })

  test('through a proxy, even a trusted one, from a page, for another host, and at other spellings of the path', async () => {
    const tested = await testApp()
    const elsewhere = [{ 'x-forwarded-for': '127.0.0.1' }, { origin: 'http://localhost' }, { host: 'a.example' }]
    for (const headers of elsewhere) await expectHidden(tested, { headers })
    await expectHidden(await testApp({ trustProxy: 1 }), { ...REMOTE, headers: { 'x-forwarded-for': '127.0.0.1' } })
    for (const path of ['/metrics?x=1', '/metrics/', '/%6Detrics']) {
      const { statusCode } = await tested.app.inject({ ...REMOTE, url: path })
      expect([path, statusCode]).toEqual([path, 404])
    }
  })

  test('a file with this name is served to them', async () => {
    const publicDir = await temporaryFolder()
    await writeFile(join(publicDir, 'metrics'), 'a file')
    const { app } = await testApp({ publicDir })
    expect((await app.inject({ ...REMOTE, url: '/metrics' })).body).toBe('a file')
  })
})

test('the token opens it from anywhere, and is not logged', async () => {
  const { app, log } = await testApp({ metricsToken: TOKEN })
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '192.0.2.1', host: 'a.example' }
  const { statusCode } = await app.inject({ url: '/metrics', remoteAddress: '192.0.2.1', headers })
  expect(statusCode).toBe(200)
  expect(log.text()).not.toContain(TOKEN)
})

describe('requests are counted', () => {
  test('by the pattern of their route, their method and their status', async () => {
    const publicDir = await temporaryFolder()
    await writeFile(join(publicDir, 'a.txt'), 'a')
    const tested = await testApp({ publicDir })
    const { app, authorized: headers } = tested
    const ask = (method: InjectOptions['method'], url: string) => app.inject({ method: method ?? 'GET', url, headers })
    for (const url of ['/healthz', '/healthz?x=1', '/a.txt', '/none', `${PRESETS}/one`, `${PRESETS}/two`]) {
      await ask('GET', url)
    }
    await ask('HEAD', '/a.txt')
    await ask('POST', '/healthz')
    await ask('OPTIONS', '/healthz')
    await ask('DELETE', '/none')
    await app.inject(`${PRESETS}/one`)
    const body = await metricsOf(tested)
    expect(body).toContain('tokenboard_http_request_duration_seconds_count')
    expect(requestsIn(body)).toEqual({
      'GET /healthz 200': 2,
      'GET files 200': 1,
      'GET files 404': 1,
      'HEAD files 200': 1,
      'POST unknown 405': 1,
      'OPTIONS unknown 204': 1,
      'DELETE unknown 404': 1,
      'GET /api/v1/presets/:slug 404': 2,
      'GET /api/v1/presets/:slug 401': 1,
    })
  })

  test('without a series for each path that a client makes up', async () => {
    const tested = await testApp()
    const linesOf = async () => Object.keys(samplesOf(await metricsOf(tested))).length
    const ask = async (name: string) => {
      for (const url of [`/${name}`, `/api/v1/${name}`, `${PRESETS}/${name}`, `/%zz${name}`, `//${name}`]) {
        for (const method of ['GET', 'POST'] as const) await tested.app.inject({ method, url })
      }
    }
    await ask('first')
    await tested.app.inject('/metrics')
    const before = await linesOf()
    for (let number = 0; number < 20; number++) await ask(`name-${number}`)
    expect(await linesOf()).toBe(before)
  })

  test('when the store does not answer, and so is its error', async () => {
    const store = await testStore()
    const fail = () => Promise.reject(new StoreUnavailableError('no answer'))
    const tested = await testApp({ store })
    const { app, createKey } = tested
    const headers = { authorization: `Bearer ${await createKey({ isManagement: true })}` }
    Object.assign(store, { ping: fail, write: fail })
    expect((await app.inject('/readyz')).statusCode).toBe(503)
    const payload = { model: 'acme/one', messages: [{ role: 'user', content: 'x' }] }
    const answer = await app.inject({ method: 'POST', url: `${PRESETS}/one/chat/completions`, headers, payload })
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5'])
    expect(answer.body).not.toContain('no answer')
    expect(tested.log.text()).toContain('no answer')
    const body = await metricsOf(tested)
    expect(requestsIn(body)).toMatchObject({
      'GET /readyz 503': 1,
      'POST /api/v1/presets/:slug/chat/completions 503': 1,
    })
    expect(samplesOf(body)).toMatchObject({ tokenboard_store_errors_total: 2, tokenboard_store_up: 0 })
  })

  test('when a limit refuses them, and so is the limit', async () => {
    const tested = await testApp({ rateLimitSettings: { perMinute: 1, perDay: 2, badKeysPerMinute: 1 } })
    const { app, authorized, createKey } = tested
    const second = { authorization: `Bearer ${await createKey({ userId: 'user_ada' })}` }
    const third = { authorization: `Bearer ${await createKey({ userId: 'user_ada' })}` }
    const bad = { authorization: 'Bearer bad' }
    for (const headers of [authorized, authorized, second, third, bad, bad]) {
      await app.inject({ url: '/api/v1/key', headers })
    }
    const body = await metricsOf(tested)
    expect(requestsIn(body)['GET /api/v1/key 429']).toBe(3)
    expect(samplesOf(body)).toMatchObject({
      'tokenboard_rate_limited_total{limit="key"}': 1,
      'tokenboard_rate_limited_total{limit="account"}': 1,
      'tokenboard_rate_limited_total{limit="address"}': 1,
      'tokenboard_rate_limited_total{limit="bodies"}': 0,
      'tokenboard_rate_limited_total{limit="older_releases"}': 0,
    })
  })
})

describe('a server that listens', () => {
  const ask = async (port: number) => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()

  test('counts requests that are given up, cannot be read, or have a method of their own', async () => {
    const { port, key, log } = await start(await workspace())
    await rawAnswer(port, 'nonsense\r\n\r\n')
    await rawAnswer(port, 'PROPFIND /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    const socket = await rawConnection(port)
    const head = `POST ${PRESETS}/one/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`
    socket.write(`${head}content-type: application/json\r\ncontent-length: 10\r\n\r\n{`)
    await expect.poll(async () => sampleIn(await ask(port), 'tokenboard_http_requests_in_flight')).toBe(2)
    socket.destroy()
    await expect.poll(() => log.lines().filter(({ msg }) => msg === 'request aborted by the client')).toHaveLength(1)
    const body = await ask(port)
    expect(requestsIn(body)).toMatchObject({
      'other unknown 400': 1,
      'other unknown 405': 1,
      'POST /api/v1/presets/:slug/messages aborted': 1,
    })
    expect(Object.keys(requestsIn(body)).filter((name) => name.includes('/messages'))).toHaveLength(1)
    expect(body).not.toContain('PROPFIND')
    expect(samplesOf(body)).toMatchObject({ tokenboard_http_requests_in_flight: 1, tokenboard_store_up: 1 })
  })

  test('measures the statements of its store', async () => {
    const { url, port, key } = await start(await workspace())
    const before = sampleIn(await ask(port), 'tokenboard_store_duration_seconds_count') ?? 0
    await fetch(`${url}/api/v1/key`, { headers: { authorization: `Bearer ${key}` } })
    expect(sampleIn(await ask(port), 'tokenboard_store_duration_seconds_count')).toBeGreaterThan(before + 1)
  })
})

describe('the release', () => {
  const AS_OF = '2025-02-10T00:00:00Z'
  const seconds = (instant: string) => Date.parse(instant) / 1000

  test('says its age, its rows and when it is late, by its own catalogue while a newer one is not served', async () => {
    const publicDir = await temporaryFolder()
    await publish(publicDir, sampleRows({ days: 3 }), { asOf: AS_OF })
    const tested = await testApp({ publicDir })
    await tested.app.ready()
    const { release = '', rows } = tested.app.releases.dataset()?.manifest ?? {}
    expect(await metricsOf(tested)).not.toContain('stale_after')
    let title = ''
    const writeCatalog = async (name: string, stale_after: string) => {
      // Each is larger: two may be written within one tick of the clock of files.
      title += name
      const datasets = [{ title, latest: { release: name }, stale_after }]
      await writeFile(join(publicDir, 'catalog.json'), JSON.stringify({ datasets }))
    }
    const stale = { tokenboard_release_stale_after_timestamp_seconds: seconds('2025-02-12T00:00:00Z') }
    await writeCatalog(release, '2025-02-12T00:00:00Z')
    expect(samplesOf(await metricsOf(tested))).toMatchObject({
      tokenboard_release_timestamp_seconds: seconds(AS_OF),
      tokenboard_release_rows: rows,
      ...stale,
    })
    await writeCatalog('20250213T000000Z', '2025-02-15T00:00:00Z')
    expect(samplesOf(await metricsOf(tested))).toMatchObject(stale)
  })

  test('says nothing if there is none', async () => {
    expect(await metricsOf(await testApp())).not.toContain('release_timestamp_seconds')
  })
})

test('the API document and the list of resources do not name it', async () => {
  const { app } = await testApp()
  for (const url of ['/openapi.json', '/.well-known/api-catalog', '/docs']) {
    expect((await app.inject(url)).body, url).not.toContain('/metrics')
  }
  expect((await app.inject(`${RANKINGS}/metrics`)).statusCode).toBe(404)
})

/** The samples of a text in the Prometheus format, by their lines. */
function samplesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

function sampleIn(text: string, line: string): number | undefined {
  return samplesOf(text)[line]
}

/** What was counted of requests, by `METHOD route status`. */
function requestsIn(text: string): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const [line, value] of Object.entries(samplesOf(text))) {
    const [, route, method, status] =
      /^tokenboard_http_requests_total\{route="([^"]*)",method="([^"]*)",status="([^"]*)"\}$/.exec(line) ?? []
    if (route !== undefined) counted[`${method} ${route} ${status}`] = value
  }
  return counted
}
