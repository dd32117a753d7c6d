import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { AppDependencies } from '../../../server/app.ts'
import { FORMS } from '../../../server/published/forms.ts'
import { RANKINGS, type TestApp, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { DEFAULT_AS_OF, FOLDER, type PublishOptions, publish, sampleRows } from '../../support/publish.ts'
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
  test('holds the rows of the default window as published, and the resolved window', async () => {
    const { get } = await withRelease()
    const answer = await get()
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual({
      data: rows.filter(({ date }) => date >= '2025-01-10' && date <= '2025-02-09'),
      meta: { as_of: DEFAULT_AS_OF, start_date: '2025-01-10', end_date: '2025-02-09', version: 'v1' },
    })
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
  })

  test.each([
    ['the first day alone', '2025-01-01', '2025-01-01'],
    ['the last day alone', '2025-02-09', '2025-02-09'],
    ['all days', '2025-01-01', '2025-02-09'],
    ['days in between', '2025-01-15', '2025-01-17'],
  ])('of a window: %s', async (_name, start_date, end_date) => {
    const { get } = await withRelease()
    const answer = await get(`?start_date=${start_date}&end_date=${end_date}`)
    expect(answer.json().data).toEqual(rows.filter(({ date }) => date >= start_date && date <= end_date))
    expect(answer.json().meta).toMatchObject({ start_date, end_date })
  })

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
  test.each([
    ['start_date defaults to 30 days before end_date', '?end_date=2025-02-05', '2025-01-06', '2025-02-05'],
    ['start_date is clamped to the first day of the dataset', '?start_date=2024-01-01', '2025-01-01', '2025-02-09'],
    ['a default start_date is clamped too', '?end_date=2025-01-03', '2025-01-01', '2025-01-03'],
    ['a later end_date is clamped to the last completed day', '?end_date=2030-01-01', '2025-01-10', '2025-02-09'],
    ['the first day of the dataset is a valid end_date', '?end_date=2025-01-01', '2025-01-01', '2025-01-01'],
  ])('%s', async (_rule, query, start_date, end_date) => {
    const { get } = await withRelease()
    const answer = await get(query)
    expect(answer.statusCode).toBe(200)
    expect(answer.json().meta).toMatchObject({ start_date, end_date })
  })

  test.each([
    ['an end_date before the dataset', '?end_date=2024-12-31', 'end_date'],
    ['start_date after end_date', '?start_date=2025-02-02&end_date=2025-02-01', 'start_date'],
    ['a start_date in the future', '?start_date=2025-02-10', 'start_date'],
    ['a window that is empty after clamping', '?start_date=2025-03-01&end_date=2025-03-05', 'start_date'],
    ['a date that does not exist', '?end_date=2025-02-30', 'end_date'],
    ['another form of date', '?end_date=2025-2-1', 'end_date'],
    ['a date with a time', '?end_date=2025-02-01T00:00:00Z', 'end_date'],
    ['a date with a space', '?end_date=2025-02-01%20', 'end_date'],
    ['an empty value', '?start_date=', 'start_date'],
    ['a name without a value', '?end_date', 'end_date'],
    ['a repeated parameter', '?start_date=2025-02-01&start_date=2025-02-01', 'start_date'],
  ])('refuses %s with 400', async (_rule, query, parameter) => {
    const { get } = await withRelease()
    const body = assertEnvelope(await get(query), 400)
    expect(body.error.message).toContain(parameter)
    expect(body.error.metadata?.issues).toEqual([{ path: parameter, message: expect.any(String) }])
    expect(body.user_id).toBe('user_ada')
  })

  test.each([
    ['period=week', 'period', 'this operation has start_date, end_date, as_of, format'],
    ['model=vendor/model-1', 'model', 'this operation has start_date, end_date, as_of, format'],
    ['limit=10', 'limit', 'this operation has start_date, end_date, as_of, format'],
    ['limit=1&limit=2', 'limit', 'this operation has start_date, end_date, as_of, format'],
    ['startdate=2025-02-01', 'startdate', 'did you mean start_date?'],
    ['End_Date=2025-02-01', 'End_Date', 'did you mean end_date?'],
    ['asof=20250210T000000Z', 'asof', 'did you mean as_of?'],
    ['formats', 'formats', 'did you mean format?'],
    ['__proto__=x', '__proto__', 'this operation has start_date, end_date, as_of, format'],
    ['constructor=x', 'constructor', 'this operation has start_date, end_date, as_of, format'],
  ])('refuses %s, which it does not know, and names the nearest parameter', async (query, path, hint) => {
    const { get } = await withRelease()
    for (const whole of [`?${query}`, `?start_date=2025-02-01&${query}`]) {
      const body = assertEnvelope(await get(whole), 400)
      const message = `is not a known parameter: ${hint}`
      expect(body.error).toMatchObject({ message: `${path} ${message}`, metadata: { issues: [{ path, message }] } })
    }
  })

  test('lists at most ten unknown parameters, and the beginnings of their names', async () => {
    const { get } = await withRelease()
    const names = Array.from({ length: 12 }, (_, index) => `${'x'.repeat(60)}${index}`)
    const body = assertEnvelope(await get(`?${names.join('&')}`), 400)
    expect(body.error.metadata?.issues?.map(({ path }) => path)).toEqual(Array(10).fill('x'.repeat(40)))
  })

  test('asks for a key before it looks at parameters', async () => {
    const { app } = await testApp()
    assertEnvelope(await app.inject(`${RANKINGS}?period=week`), 401)
  })

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

  test('names every wrong parameter', async () => {
    const { get } = await withRelease()
    const body = assertEnvelope(await get('?start_date=x&end_date=y'), 400)
    expect(body.error.metadata?.issues?.map(({ path }) => path)).toEqual(['start_date', 'end_date'])
  })

  test('follows the clock, and AS_OF where it is set', async () => {
    const clock = () => new Date('2025-01-20T00:00:00Z')
    const byClock = await withRelease({ clock })
    expect((await byClock.get()).json().meta.end_date).toBe('2025-01-19')
    const byAsOf = await withRelease({ clock, asOf: new Date('2025-01-05T23:59:59Z') })
    expect((await byAsOf.get()).json().meta.end_date).toBe('2025-01-04')
  })
})

describe('forms', () => {
  const day = rows.filter(({ date }) => date === '2025-02-01')
  const csv = ['date,model_permaslug,total_tokens', ...day.map((row) => Object.values(row).join(',')), ''].join('\n')
  const ndjson = day.map((row) => `${JSON.stringify(row)}\n`).join('')
  const ONE_DAY = '?start_date=2025-02-01&end_date=2025-02-01'

  test.each([
    ['Accept', '', { accept: 'text/csv' }, 'text/csv; charset=utf-8', csv],
    ['format', '&format=csv', {}, 'text/csv; charset=utf-8', csv],
    ['Accept', '', { accept: 'application/x-ndjson' }, 'application/x-ndjson', ndjson],
    ['format', '&format=ndjson', {}, 'application/x-ndjson', ndjson],
    ['format before Accept', '&format=ndjson', { accept: 'text/csv' }, 'application/x-ndjson', ndjson],
  ])('by %s%s %o', async (_by, query, headers, type, body) => {
    const { get } = await withRelease()
    const answer = await get(ONE_DAY + query, headers)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe(type)
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(body)))
    expect(answer.body).toBe(body)
  })

  test.each([
    ['format=json wins over Accept', '?format=json', { accept: 'text/csv' }],
    ['Accept that allows none of the forms is answered with JSON', '', { accept: 'image/png' }],
  ])('%s', async (_rule, query, headers) => {
    const { get } = await withRelease()
    const answer = await get(query, headers)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json().data).not.toEqual([])
  })

  test.each(['xml', 'CSV', '', 'csv&format=csv'])('refuses format=%s with 400', async (format) => {
    const { get } = await withRelease()
    const body = assertEnvelope(await get(`?format=${format}`, { accept: 'text/csv' }), 400)
    expect(body.error.metadata?.issues).toEqual([{ path: 'format', message: expect.any(String) }])
  })

  test('a window without rows is the header alone as CSV, and nothing as NDJSON', async () => {
    const { get } = await withRelease({ clock: () => new Date('2025-03-01T00:00:00Z') })
    const EMPTY = '?start_date=2025-02-20&format='
    expect((await get(`${EMPTY}csv`)).body).toBe('date,model_permaslug,total_tokens\n')
    const nothing = await get(`${EMPTY}ndjson`)
    expect([nothing.statusCode, nothing.body, nothing.headers['content-length']]).toEqual([200, '', '0'])
  })

  test('each has a tag of its own, by which it is 304', async () => {
    const { get } = await withRelease()
    const tags = await Promise.all(
      ['json', 'csv', 'ndjson'].map(async (format) => String((await get(`?format=${format}`)).headers.etag)),
    )
    expect(new Set(tags).size).toBe(3)
    expect((await get('', { accept: 'text/csv', 'if-none-match': tags[1] ?? '' })).statusCode).toBe(304)
    expect((await get('', { accept: 'text/csv', 'if-none-match': tags[0] ?? '' })).statusCode).toBe(200)
  })

  test.each(['csv', 'ndjson'])('HEAD of %s has the headers of GET and no body', async (format) => {
    const { get } = await withRelease()
    const [whole, head] = [await get(`?format=${format}`), await get(`?format=${format}`, {}, 'HEAD')]
    expect([head.statusCode, head.body]).toEqual([200, ''])
    for (const name of ['etag', 'content-type', 'content-length', 'x-content-hash']) {
      expect(head.headers[name], name).toBe(whole.headers[name])
    }
  })

  test('errors are the envelope whatever the form', async () => {
    const { get } = await withRelease()
    assertEnvelope(await get('?format=csv&start_date=x', { accept: 'text/csv' }), 400)
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

  test('answers from the release of that name, in every form', async () => {
    const { get, older } = await withHistory()
    const answer = await get(`?as_of=${OLD}&start_date=2025-02-04`)
    expect(answer.json()).toEqual({
      data: older.filter(({ date }) => date >= '2025-02-04'),
      meta: { as_of: '2025-02-05T00:12:00Z', start_date: '2025-02-04', end_date: '2025-02-09', version: 'v1' },
    })
    const csv = await get(`?as_of=${OLD}&start_date=2025-02-04&format=csv`)
    expect(csv.body.split('\n').slice(1, -1)).toEqual(
      answer.json().data.map((row: object) => Object.values(row).join()),
    )
  })

  test('answers from an older release as gzip too', async () => {
    const { get } = await withHistory()
    const query = `?as_of=${OLD}&start_date=2025-01-03&end_date=2025-02-04`
    const [plain, packed] = [await get(query), await get(query, { 'accept-encoding': 'gzip' })]
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
  })

  test('its headers are those of that release', async () => {
    const { get, older } = await withHistory()
    const { headers } = await get(`?as_of=${OLD}`)
    const csv = ['date,model_permaslug,total_tokens', ...older.map((row) => Object.values(row).join()), ''].join('\n')
    expect(headers).toMatchObject({
      'last-modified': 'Wed, 05 Feb 2025 00:12:00 GMT',
      'x-content-hash': `sha256:${createHash('sha256').update(csv).digest('hex')}`,
      'x-dataset-end-date': '2025-02-04',
    })
    expect(headers.link).toContain(`/releases/${OLD}/`)
    const current = (await get()).headers
    expect(headers.etag).not.toBe(current.etag)
    expect(headers['x-content-hash']).not.toBe(current['x-content-hash'])
  })

  test('the default window is by the clock, whatever the release', async () => {
    const { get } = await withHistory()
    expect((await get(`?as_of=${OLD}`)).json().meta).toMatchObject({ start_date: '2025-01-10', end_date: '2025-02-09' })
  })

  test('the current release may be named too', async () => {
    const { get } = await withHistory()
    const [named, current] = [await get('?as_of=20250210T001200Z'), await get()]
    expect([named.body, named.headers.etag]).toEqual([current.body, current.headers.etag])
  })

  test('works while no release is current', async () => {
    const { publicDir, get } = await withRelease({}, { spoilRows: (bytes) => bytes.subarray(1) })
    await publish(publicDir, rows, { asOf: '2025-02-05T00:12:00Z', spoilPointer: (p) => Object.assign(p, { rows: 1 }) })
    await writeIndex(publicDir)
    assertEnvelope(await get(), 503)
    expect((await get(`?as_of=${OLD}`)).statusCode).toBe(200)
  })

  test('a release that never was is 404, after the window was found right', async () => {
    const { get } = await withHistory()
    assertEnvelope(await get('?as_of=20250206T001200Z'), 404)
    assertEnvelope(await get('?as_of=20250206T001200Z&end_date=2024-01-01'), 400)
  })

  test.each(['2025-02-05T00:12:00Z', 'latest', '', '20250205T001200', '../20250205T001200Z', `${OLD}&as_of=${OLD}`])(
    'refuses as_of=%s with 400',
    async (name) => {
      const { get } = await withHistory()
      const body = assertEnvelope(await get(`?as_of=${name}`), 400)
      expect(body.error.metadata?.issues).toEqual([{ path: 'as_of', message: expect.any(String) }])
    },
  )

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
    const refused = await Promise.race(asking)
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
  test('say where the answer comes from and how long it holds', async () => {
    const { get } = await withRelease()
    const { headers } = await get()
    expect(headers).toMatchObject({
      'last-modified': 'Mon, 10 Feb 2025 00:12:00 GMT',
      'cache-control': 'private, max-age=60',
      vary: 'Authorization, Accept, Accept-Encoding',
      'x-attribution': `Source: Example (https://example.org), as of ${DEFAULT_AS_OF}.`,
      'x-content-hash': expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    })
    expect(headers.link).toBe(
      '<https://creativecommons.org/licenses/by/4.0/>; rel="license", ' +
        `</${FOLDER}/releases/20250210T001200Z/manifest.json>; rel="describedby"; type="application/json"`,
    )
    expect(headers['x-dataset-end-date']).toBeUndefined()
  })

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

  test('X-Dataset-End-Date says that the release ends before the window', async () => {
    const { get } = await withRelease({ clock: () => new Date('2025-02-20T00:00:00Z') })
    const late = await get()
    expect(late.headers['x-dataset-end-date']).toBe('2025-02-09')
    expect(late.json().meta.end_date).toBe('2025-02-19')
    expect((await get('?end_date=2025-02-09')).headers['x-dataset-end-date']).toBeUndefined()
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

  test.each([
    ['the tag', (etag: string) => etag],
    ['a list with the tag', (etag: string) => `"a", "b,c", ${etag}`],
    ['the tag marked weak', (etag: string) => `W/${etag}`],
    ['any tag', () => '*'],
  ])('If-None-Match with %s is answered 304 without a body', async (_name, header) => {
    const { get } = await withRelease()
    const { headers } = await get()
    const answer = await get('', { 'if-none-match': header(String(headers.etag)) })
    expect(answer.statusCode).toBe(304)
    expect(answer.body).toBe('')
    expect(answer.headers).toMatchObject({
      etag: headers.etag,
      'cache-control': headers['cache-control'],
      vary: headers.vary,
    })
    expect(answer.headers['content-type']).toBeUndefined()
  })

  test('another tag, or a time, is answered in full', async () => {
    const { get } = await withRelease()
    expect((await get('', { 'if-none-match': '"other"' })).statusCode).toBe(200)
    expect((await get('', { 'if-modified-since': 'Mon, 10 Feb 2025 00:12:00 GMT' })).statusCode).toBe(200)
  })

  test('a wrong key is told so, not 304', async () => {
    const { get } = await withRelease()
    assertEnvelope(await get('', { 'if-none-match': '*', authorization: 'Bearer sk-tb-v1-none' }), 401)
  })
})

test('HEAD has the headers of GET and no body', async () => {
  const { get } = await withRelease()
  const [whole, head] = [await get(), await get('', {}, 'HEAD')]
  expect(head.statusCode).toBe(200)
  expect(head.body).toBe('')
  const comparable = ({ 'x-request-id': _, date: __, ...headers }: Record<string, unknown>) => headers
  expect(comparable(head.headers)).toEqual(comparable(whole.headers))
  expect((await get('?end_date=x', {}, 'HEAD')).statusCode).toBe(400)
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

  test.each(FORMS)('gzip has every header that the plain answer has: %s', async (format) => {
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

describe('without a release', () => {
  test('is 503 with Retry-After, after key and query were found right', async () => {
    const setup = await testApp()
    const get = getter(setup)
    const answer = await get()
    assertEnvelope(answer, 503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    assertEnvelope(await get('?start_date=x'), 400)
    assertEnvelope(await setup.app.inject(RANKINGS), 401)
  })
})
