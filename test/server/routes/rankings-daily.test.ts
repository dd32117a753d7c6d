import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { AppDependencies } from '../../../server/app.ts'
import { FORMATS } from '../../../server/published/formats.ts'
import { RANKINGS, type TestApp, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { FOLDER, type PublishOptions, publish, sampleRows } from '../../support/publish.ts'
import { withdraw, writeIndex } from '../../support/release-index.ts'
import { loadReleaseHere } from '../../support/release-loader.ts'

const rows = sampleRows()

async function withRelease(dependencies: Partial<AppDependencies> = {}, published: PublishOptions = {}) {
  const setup = await testApp(dependencies)
  await publish(setup.publicDir, rows, published)
  await setup.app.ready()
  return { ...setup, get: getter(setup) }
}

function getter({ app, authorized }: TestApp) {
  return (query = '', headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: RANKINGS + query, headers: { ...authorized, ...headers } })
}

describe('body', () => {
  test('leaves dates without rows out, and is empty where there are none', async () => {
    const setup = await testApp()
    const sparse = rows.filter(({ date }) => date === '2025-01-12' || date === '2025-01-15')
    await publish(setup.publicDir, sparse)
    const get = getter(setup)
    expect((await get('?start_date=2025-01-13&end_date=2025-01-14')).json().data).toEqual([])
    expect((await get('?start_date=2025-01-16')).json().data).toEqual([])
    expect((await get('?end_date=2025-01-11')).json().data).toEqual([])
    expect((await get('?start_date=2025-01-11&end_date=2025-01-16')).json().data).toEqual(sparse)
    expect((await get('?start_date=2025-01-13&end_date=2025-01-16')).json().data).toEqual(sparse.slice(51))
  })

  test('keeps slugs and totals as published, whatever their characters and size', async () => {
    const setup = await testApp()
    const odd = [
      { date: '2025-02-01', model_permaslug: 'vendor/"quoted", comma', total_tokens: '90071992547409931234' },
      { date: '2025-02-01', model_permaslug: 'vendor/ünïcode-\u{1F600}', total_tokens: '7' },
    ]
    await publish(setup.publicDir, odd)
    expect((await getter(setup)('?start_date=2025-02-01')).json().data).toEqual(odd)
  })
})

describe('window', () => {
  test.each(['/api/v1/datasets/rankings-daily.json', '/datasets/rankings-daily/v1/latest.json'])(
    'the file %s ignores its query',
    async (path) => {
      const { app, publicDir } = await withRelease()
      await mkdir(join(publicDir, 'api/v1/datasets'), { recursive: true })
      await writeFile(join(publicDir, 'api/v1/datasets/rankings-daily.json'), '{}')
      const plain = await app.inject(path)
      const asked = await app.inject(`${path}?period=week&x=1`)
      expect([asked.statusCode, asked.body, asked.headers.etag]).toEqual([200, plain.body, plain.headers.etag])
    },
  )

  test('follows the clock, and AS_OF where it is set', async () => {
    const clock = () => new Date('2025-01-20T00:00:00Z')
    const byClock = await withRelease({ clock })
    expect((await byClock.get()).json().meta.end_date).toBe('2025-01-19')
    const byAsOf = await withRelease({ clock, asOf: new Date('2025-01-05T23:59:59Z') })
    expect((await byAsOf.get()).json().meta.end_date).toBe('2025-01-04')
  })
})

describe('as_of', () => {
  const OLD = '20250205T001200Z'

  async function withHistory(dependencies: Partial<AppDependencies> = {}) {
    const setup = await testApp(dependencies)
    const older = sampleRows({ days: 35, scale: 3 })
    await publish(setup.publicDir, older, { asOf: '2025-02-05T00:12:00Z' })
    await publish(setup.publicDir, rows)
    await writeIndex(setup.publicDir)
    await setup.app.ready()
    return { ...setup, older, get: getter(setup) }
  }

  test('works while no release is current', async () => {
    const { publicDir, get } = await withRelease({}, { spoilRows: (bytes) => bytes.subarray(1) })
    await publish(publicDir, rows, { asOf: '2025-02-05T00:12:00Z', spoilPointer: (p) => Object.assign(p, { rows: 1 }) })
    await writeIndex(publicDir)
    assertEnvelope(await get(), 503)
    expect((await get(`?as_of=${OLD}`)).statusCode).toBe(200)
  })

  test('a withdrawn release is 410, and the envelope says where its tombstone is', async () => {
    const { app, publicDir, get } = await withHistory()
    await withdraw(publicDir, OLD)
    const { error } = assertEnvelope(await get(`?as_of=${OLD}`), 410)
    const { tombstone } = error.metadata as { tombstone: string }
    expect((await app.inject(tombstone)).json()).toMatchObject({ release: OLD })
  })

  test('a release that cannot be read is a 500 and a line in the log', async () => {
    const { publicDir, get, log } = await withHistory()
    await publish(publicDir, rows, { asOf: '2025-02-06T00:12:00Z', spoilRows: (bytes) => bytes.subarray(1) })
    await writeIndex(publicDir)
    assertEnvelope(await get('?as_of=20250206T001200Z'), 500)
    expect(log.lines()).toContainEqual(expect.objectContaining({ msg: 'unexpected error' }))
  })

  test('answers 429 with Retry-After while too many other releases wait to be read, and reads them all the same', async () => {
    const gate = Promise.withResolvers<void>()
    const setup = await testApp({
      loadRelease: (order) => {
        const { plain, whole } = loadReleaseHere(order)
        const isOpen = order.entry === undefined ? Promise.resolve() : gate.promise
        return { plain: isOpen.then(() => plain), whole: isOpen.then(() => whole) }
      },
    })
    const asOf = Array.from({ length: 12 }, (_, hour) => `2025-02-05T${String(hour).padStart(2, '0')}:00:00Z`)
    const names: string[] = []
    for (const instant of asOf) names.push(await publish(setup.publicDir, sampleRows({ days: 1 }), { asOf: instant }))
    await publish(setup.publicDir, rows)
    await writeIndex(setup.publicDir)
    await setup.app.ready()
    const get = getter(setup)

    const asking = names.map((name) => get(`?as_of=${name}&start_date=2025-01-01`))
    // Two of twelve are refused. The gate opens only then: a store may answer late for the last of them.
    const settled: Awaited<ReturnType<typeof get>>[] = []
    for (const answer of asking) answer.then((response) => settled.push(response))
    await expect.poll(() => settled).toHaveLength(2)
    const refused = settled[0] ?? expect.unreachable()
    const body = assertEnvelope(refused, 429)
    expect(body).toEqual({
      error: { code: 429, message: 'Too many older releases are being read. Please try again later.' },
      user_id: 'user_ada',
    })
    expect(refused.headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
    expect((await get()).statusCode).toBe(200)
    gate.resolve()
    const statuses = (await Promise.all(asking)).map(({ statusCode }) => statusCode)
    expect(statuses.toSorted()).toEqual([...Array(10).fill(200), 429, 429])
  })
})

describe('headers', () => {
  test('link to the data package of a release that has one', async () => {
    const file = { path: 'datapackage.json', media_type: 'application/json', bytes: 2, sha256: '0'.repeat(64) }
    const { get } = await withRelease({}, { spoilManifest: ({ files }) => files.push(file) })
    expect((await get()).headers.link).toContain(
      `</${FOLDER}/releases/20250210T001200Z/datapackage.json>; rel="describedby"`,
    )
  })

  test('link to a manifest that is there', async () => {
    const { app, get } = await withRelease()
    const path = /, <(.+?)>/.exec(String((await get()).headers.link))?.[1] ?? ''
    expect((await app.inject(path)).json()).toMatchObject({ release: '20250210T001200Z' })
  })

  test('an attribution beyond ASCII is percent-encoded', async () => {
    const { get } = await withRelease({}, { attribution: 'Source: Zoë 日本 50%.' })
    expect((await get()).headers['x-attribution']).toBe('Source: Zo%C3%AB %E6%97%A5%E6%9C%AC 50%.')
  })
})

describe('conditional requests', () => {
  test('the tag is strong, and differs by release, content and window', async () => {
    const { app, publicDir, get } = await withRelease()
    const tagOf = async (query = '') => String((await get(query)).headers.etag)
    const first = await tagOf()
    expect(first).toMatch(/^"[^"]+"$/)
    expect(await tagOf('?start_date=2025-01-10&end_date=2025-02-09')).toBe(first)
    const tags = [
      first,
      await tagOf('?start_date=2025-01-11'),
      await tagOf('?end_date=2025-02-08&start_date=2025-01-10'),
    ]
    await publish(publicDir, rows, { asOf: '2025-02-10T01:00:00Z' })
    await app.releases.check()
    tags.push(await tagOf())
    await publish(publicDir, sampleRows({ scale: 2 }), { asOf: '2025-02-10T01:00:00Z' })
    await app.releases.check()
    tags.push(await tagOf())
    expect(new Set(tags).size).toBe(5)
  })
})

describe('codings', () => {
  const ANY = '?start_date=2025-01-05&end_date=2025-02-03'

  test.each([
    ['nothing', undefined, undefined],
    ['gzip', 'gzip', 'gzip'],
    ['gzip among others', 'deflate, gzip;q=0.8, br;q=1', 'gzip'],
    ['anything', '*', 'gzip'],
    ['its old name', 'x-gzip', 'gzip'],
    ['plain bytes rather', 'gzip;q=0.5, identity', undefined],
    ['gzip never', 'gzip;q=0, *', undefined],
    ['plain bytes never', 'identity;q=0, gzip;q=0.1', 'gzip'],
    ['neither', 'identity;q=0, gzip;q=0', undefined],
    ['brotli alone', 'br', undefined],
    ['an empty list', '', undefined],
  ])('for a client that takes %s', async (_case, acceptEncoding, coding) => {
    const { get } = await withRelease()
    const plain = await get(ANY)
    const answer = await get(ANY, acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding })
    expect(answer.headers['content-encoding']).toBe(coding)
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
    const body = coding === 'gzip' ? gunzipSync(answer.rawPayload) : answer.rawPayload
    expect(body.equals(plain.rawPayload)).toBe(true)
  })

  test.each(FORMATS)('gzip has every header that the plain answer has: %s', async (format) => {
    const { get } = await withRelease({ rateLimitSettings: { perMinute: 1000, perDay: 0, badKeysPerMinute: 0 } })
    const query = `${ANY}&format=${format}`
    const [plain, packed] = [await get(query), await get(query, { 'accept-encoding': 'gzip' })]
    const others = ({ headers }: typeof plain) => {
      const names = ['x-request-id', 'date', 'etag', 'content-length', 'content-encoding', 'ratelimit-remaining']
      return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))
    }
    expect(others(packed)).toEqual(others(plain))
    for (const name of ['x-request-id', 'ratelimit-remaining', 'access-control-allow-origin']) {
      expect(packed.headers[name], name).toBeDefined()
    }
    expect(packed.headers.etag).toMatch(/-gzip"$/)
    expect(plain.headers.etag).toMatch(/-identity"$/)
  })

  test('each has a tag of its own, by which it is 304 and the other is not', async () => {
    const { get } = await withRelease()
    const gzip = { 'accept-encoding': 'gzip' }
    const [plainTag, gzipTag] = [String((await get()).headers.etag), String((await get('', gzip)).headers.etag)]
    expect((await get('', { ...gzip, 'if-none-match': `"x", W/${gzipTag}` })).statusCode).toBe(304)
    expect((await get('', { ...gzip, 'if-none-match': plainTag })).statusCode).toBe(200)
    expect((await get('', { 'if-none-match': gzipTag })).statusCode).toBe(200)
    expect((await get('', { ...gzip, 'if-none-match': gzipTag })).headers['content-encoding']).toBeUndefined()
  })

  test('HEAD has the headers of GET and no body', async () => {
    const { get } = await withRelease()
    const gzip = { 'accept-encoding': 'gzip' }
    const [whole, head] = [await get(ANY, gzip), await get(ANY, gzip, 'HEAD')]
    expect(head.body).toBe('')
    for (const name of ['etag', 'content-type', 'content-length', 'content-encoding']) {
      expect(head.headers[name], name).toBe(whole.headers[name])
    }
  })

  test('errors are never compressed', async () => {
    const { get } = await withRelease()
    const answer = await get('?start_date=x', { 'accept-encoding': 'gzip' })
    assertEnvelope(answer, 400)
    expect(answer.headers['content-encoding']).toBeUndefined()
  })
})

test('each answer is a line in the log, whatever it is sent as', async () => {
  const { get, log } = await withRelease()
  const { headers } = await get()
  await get('', { 'accept-encoding': 'gzip' })
  await get('', { 'if-none-match': String(headers.etag) })
  await get('', {}, 'HEAD')
  const lines = log.lines().filter(({ msg }) => msg === 'request')
  expect(lines.map(({ method, status }) => [method, status])).toEqual([
    ['GET', 200],
    ['GET', 200],
    ['GET', 304],
    ['HEAD', 200],
  ])
  expect(new Set(lines.map(({ reqId }) => reqId)).size).toBe(4)
})
