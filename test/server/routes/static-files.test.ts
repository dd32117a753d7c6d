import { createHash } from 'node:crypto'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { temporaryFolder, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { FOLDER, publish, sampleRows } from '../../support/publish.ts'
import { withdraw } from '../../support/release-index.ts'

const TEXT = '0123456789'
const ETAG = `"sha256-${createHash('sha256').update(TEXT).digest('hex')}"`

async function site(files: Record<string, string | Buffer> = { 'data.csv': TEXT }) {
  const publicDir = await temporaryFolder()
  const write = async (path: string, text: string | Buffer) => {
    await mkdir(dirname(join(publicDir, path)), { recursive: true })
    await writeFile(join(publicDir, path), text)
  }
  for (const [path, text] of Object.entries(files)) await write(path, text)
  const { app } = await testApp({ publicDir })
  const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url, headers })
  return { app, publicDir, get, write }
}

test('a file is sent with its bytes, a strong tag and the right headers, and needs no key', async () => {
  const { get } = await site()
  const answer = await get('/data.csv')
  expect(answer.statusCode).toBe(200)
  expect(answer.body).toBe(TEXT)
  expect(answer.headers).toMatchObject({
    etag: ETAG,
    'content-length': '10',
    'accept-ranges': 'bytes',
    'cache-control': 'public, max-age=60, must-revalidate',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  })
  expect(String(answer.headers['access-control-expose-headers'])).toMatch(/Content-Range.*ETag/)
  expect(Date.parse(String(answer.headers['last-modified']))).toBeGreaterThan(0)
})

test.each([
  ['page.html', true],
  ['PAGE.HTML', true],
  ['chart.svg', true],
  ['feed.atom', true],
  ['sitemap.xml', true],
  ['data.csv', false],
  ['site.css', false],
  ['script.js', false],
])('what browsers open as a document is bound to the site: %s', async (name, isBound) => {
  const { get } = await site({ [name]: TEXT })
  for (const method of ['GET', 'HEAD'] as const) {
    const { headers } = await get(`/${name}`, {}, method)
    if (isBound) expect(headers['content-security-policy']).toMatch(/^default-src 'self';/)
    else expect(headers['content-security-policy']).toBeUndefined()
  }
})

test.each([
  ['a.parquet', 'application/vnd.apache.parquet'],
  ['a.csv', 'text/csv; charset=utf-8'],
  ['a.csv.gz', 'application/gzip'],
  ['a.json.gz', 'application/gzip'],
  ['a.ndjson.gz', 'application/gzip'],
  ['a.ndjson', 'application/x-ndjson'],
  ['a.json', 'application/json; charset=utf-8'],
  ['a.svg', 'image/svg+xml'],
  ['a.html', 'text/html; charset=utf-8'],
  ['a.js', 'text/javascript; charset=utf-8'],
  ['feed.json', 'application/feed+json; charset=utf-8'],
  ['dcat.jsonld', 'application/ld+json; charset=utf-8'],
  ['sitemap.xml', 'application/xml'],
  ['robots.txt', 'text/plain; charset=utf-8'],
  ['feed.atom', 'application/atom+xml; charset=utf-8'],
  ['citation.bib', 'application/x-bibtex; charset=utf-8'],
  ['CITATION.cff', 'application/yaml; charset=utf-8'],
  ['SHA256SUMS', 'text/plain; charset=utf-8'],
  ['a.unheard', 'application/octet-stream'],
])('%s is %s, and never a coding of something else', async (name, type) => {
  const { get } = await site({ [name]: TEXT })
  const { headers } = await get(`/${name}`)
  expect(headers['content-type']).toBe(type)
  expect(headers['content-encoding']).toBeUndefined()
})

describe('ranges', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['Bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
    ['bytes=-99', TEXT, 'bytes 0-9/10'],
  ])('%s', async (range, body, contentRange) => {
    const { get } = await site()
    const answer = await get('/data.csv', { range })
    expect(answer.statusCode).toBe(206)
    expect(answer.body).toBe(body)
    expect(answer.headers).toMatchObject({
      'content-range': contentRange,
      'content-length': String(body.length),
      etag: ETAG,
    })
  })

  test.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('%s lies outside: 416', async (range) => {
    const { get } = await site()
    const answer = await get('/data.csv', { range })
    assertEnvelope(answer, 416)
    expect(answer.headers['content-range']).toBe('bytes */10')
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test.each(['lines=0-1', 'bytes=5-2', 'bytes=a-b', 'bytes=-', 'bytes=0-1,4-5'])('%s is ignored', async (range) => {
    const { get } = await site()
    const answer = await get('/data.csv', { range })
    expect([answer.statusCode, answer.body]).toEqual([200, TEXT])
    expect(answer.headers['content-range']).toBeUndefined()
  })

  test('If-Range: the part only while the file is the same', async () => {
    const { get } = await site()
    const range = 'bytes=0-1'
    const modified = String((await get('/data.csv')).headers['last-modified'])
    expect((await get('/data.csv', { range, 'if-range': ETAG })).statusCode).toBe(206)
    expect((await get('/data.csv', { range, 'if-range': modified })).statusCode).toBe(206)
    expect((await get('/data.csv', { range, 'if-range': '"other"' })).statusCode).toBe(200)
    expect((await get('/data.csv', { range, 'if-range': `W/${ETAG}` })).statusCode).toBe(200)
    expect((await get('/data.csv', { range, 'if-range': 'Thu, 01 Jan 1970 00:00:00 GMT' })).statusCode).toBe(200)
  })

  test('HEAD knows no ranges', async () => {
    const { get } = await site()
    const answer = await get('/data.csv', { range: 'bytes=0-1' }, 'HEAD')
    expect([answer.statusCode, answer.body, answer.headers['content-length']]).toEqual([200, '', '10'])
  })
})

describe('conditional requests', () => {
  test.each([ETAG, `W/${ETAG}`, `"x", ${ETAG}`, '*'])('If-None-Match: %s is 304', async (header) => {
    const { get } = await site()
    const answer = await get('/data.csv', { 'if-none-match': header })
    expect([answer.statusCode, answer.body]).toEqual([304, ''])
    expect(answer.headers.etag).toBe(ETAG)
  })

  test('another tag wins over a time that would match', async () => {
    const { get } = await site()
    const future = 'Fri, 01 Jan 2100 00:00:00 GMT'
    expect((await get('/data.csv', { 'if-none-match': '"other"', 'if-modified-since': future })).statusCode).toBe(200)
    expect((await get('/data.csv', { 'if-modified-since': future })).statusCode).toBe(304)
  })

  test('the time of the file itself is 304, an earlier or broken one is not', async () => {
    const { get } = await site()
    const modified = String((await get('/data.csv')).headers['last-modified'])
    expect((await get('/data.csv', { 'if-modified-since': modified })).statusCode).toBe(304)
    expect((await get('/data.csv', { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).statusCode).toBe(200)
    expect((await get('/data.csv', { 'if-modified-since': 'yesterday' })).statusCode).toBe(200)
  })

  test('a replaced file has a new tag, also when its size is the same', async () => {
    const { get, write, publicDir } = await site()
    expect((await get('/data.csv')).headers.etag).toBe(ETAG)
    await write('new', '9876543210')
    await rename(join(publicDir, 'new'), join(publicDir, 'data.csv'))
    const answer = await get('/data.csv', { 'if-none-match': ETAG })
    expect([answer.statusCode, answer.body]).toEqual([200, '9876543210'])
  })
})

describe('requests for one state of a file', () => {
  const EARLIER = 'Thu, 01 Jan 1970 00:00:00 GMT'
  const LATER = 'Fri, 01 Jan 2100 00:00:00 GMT'

  test.each([ETAG, '*', `"x", ${ETAG}`])('If-Match: %s is answered', async (header) => {
    const { get } = await site()
    expect((await get('/data.csv', { 'if-match': header })).statusCode).toBe(200)
  })

  test.each(['"other"', `W/${ETAG}`, '', 'nonsense'])('If-Match: %s is 412', async (header) => {
    const { get } = await site()
    assertEnvelope(await get('/data.csv', { 'if-match': header }), 412)
    expect((await get('/data.csv', { 'if-match': header }, 'HEAD')).statusCode).toBe(412)
  })

  test.each([
    ['an earlier time', EARLIER, 412],
    ['a later time', LATER, 200],
    ['a time in an old form', 'Thursday, 01-Jan-70 00:00:00 GMT', 412],
    ['no time', 'yesterday', 200],
  ])('If-Unmodified-Since with %s', async (_name, since, status) => {
    const { get } = await site()
    expect((await get('/data.csv', { 'if-unmodified-since': since })).statusCode).toBe(status)
  })

  test('the time of the file itself is its state, in whatever form, and always in GMT', async () => {
    const { get } = await site()
    const modified = String((await get('/data.csv')).headers['last-modified'])
    const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(modified) ?? []
    for (const form of [
      modified,
      `Friday, ${day}-${month}-${year?.slice(2)} ${time} GMT`,
      `Fri ${month} ${day} ${time} ${year}`,
    ]) {
      expect((await get('/data.csv', { 'if-unmodified-since': form })).statusCode, form).toBe(200)
      expect((await get('/data.csv', { 'if-modified-since': form })).statusCode, form).toBe(304)
    }
  })

  test('a tag counts before a time, and both before what the client has', async () => {
    const { get } = await site()
    const status = async (headers: Record<string, string>) => (await get('/data.csv', headers)).statusCode
    expect(await status({ 'if-match': ETAG, 'if-unmodified-since': EARLIER })).toBe(200)
    expect(await status({ 'if-match': '"other"', 'if-unmodified-since': LATER })).toBe(412)
    expect(await status({ 'if-match': '"other"', 'if-none-match': ETAG })).toBe(412)
    expect(await status({ 'if-match': ETAG, 'if-none-match': ETAG })).toBe(304)
    expect(await status({ 'if-match': '"other"', range: 'bytes=99-' })).toBe(412)
    expect(await status({ 'if-none-match': ETAG, range: 'bytes=99-' })).toBe(304)
    expect(await status({ 'if-none-match': ETAG, range: 'bytes=0-1' })).toBe(304)
  })
})

const CSV = 'a,b\n'.repeat(100)
const GZIP = gzipSync(CSV)
const tagOf = (bytes: string | Buffer) => `"sha256-${createHash('sha256').update(bytes).digest('hex')}"`
const RELEASE = `${FOLDER}/releases/20250210T001200Z`
const PATH = `/${RELEASE}/data.csv`

/** A release whose manifest lists a file and the gzip beside it. */
async function siteWithGzip({ name = 'data.csv', written = GZIP } = {}) {
  const setup = await site()
  const listed = (path: string, bytes: string | Buffer) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { path, media_type: 'text/csv', bytes: bytes.length, sha256 }
  }
  await publish(setup.publicDir, sampleRows({ days: 1 }), {
    spoilManifest: ({ files }) => files.push(listed(name, CSV), listed(`${name}.gz`, GZIP)),
  })
  await setup.write(`${RELEASE}/${name}`, CSV)
  await setup.write(`${RELEASE}/${name}.gz`, written)
  return setup
}

describe('the gzip beside a file', () => {
  test('is sent for the file where the client takes gzip, with a tag of its own', async () => {
    const { get } = await siteWithGzip()
    const answer = await get(PATH, { 'accept-encoding': 'gzip, deflate, br' })
    expect(answer.statusCode).toBe(200)
    expect(gunzipSync(answer.rawPayload).toString()).toBe(CSV)
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/csv; charset=utf-8',
      'content-length': String(GZIP.length),
      etag: tagOf(GZIP),
      vary: 'Accept-Encoding',
    })
  })

  test.each([undefined, 'identity', 'br', 'gzip;q=0', 'identity, gzip;q=0.5', '*;q=0'])(
    'is not sent for Accept-Encoding: %s, and caches are told that it could be',
    async (coding) => {
      const { get } = await siteWithGzip()
      const answer = await get(PATH, coding === undefined ? {} : { 'accept-encoding': coding })
      expect(answer.body).toBe(CSV)
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(answer.headers).toMatchObject({ etag: tagOf(CSV), vary: 'Accept-Encoding' })
    },
  )

  test.each(['gzip', 'GZIP', 'x-gzip', '*', 'gzip;q=0.5, identity;q=0.1', 'br, gzip'])(
    'is sent for Accept-Encoding: %s',
    async (coding) => {
      const { get } = await siteWithGzip()
      expect((await get(PATH, { 'accept-encoding': coding })).headers['content-encoding']).toBe('gzip')
    },
  )

  test('304 and HEAD are those of the coding that the client takes', async () => {
    const { get } = await siteWithGzip()
    const gzip = { 'accept-encoding': 'gzip' }
    const unchanged = await get(PATH, { ...gzip, 'if-none-match': tagOf(GZIP) })
    expect([unchanged.statusCode, unchanged.headers.vary]).toEqual([304, 'Accept-Encoding'])
    expect((await get(PATH, { ...gzip, 'if-none-match': tagOf(CSV) })).statusCode).toBe(200)
    expect((await get(PATH, { 'if-none-match': tagOf(GZIP) })).statusCode).toBe(200)
    const head = await get(PATH, gzip, 'HEAD')
    expect([head.body, head.headers['content-encoding'], head.headers['content-length']]).toEqual([
      '',
      'gzip',
      String(GZIP.length),
    ])
  })

  test('ranges are of the plain file', async () => {
    const { get } = await siteWithGzip()
    const answer = await get(PATH, { 'accept-encoding': 'gzip', range: 'bytes=0-3' })
    expect([answer.statusCode, answer.body, answer.headers['content-encoding']]).toEqual([206, 'a,b\n', undefined])
  })

  test.each([
    ['has another size than the manifest lists', 'data.csv', GZIP.subarray(0, -9)],
    ['is empty', 'data.csv', Buffer.alloc(0)],
    ['stands beside a Parquet file', 'data.parquet', GZIP],
  ])('is not sent where it %s', async (_why, name, written) => {
    const { get } = await siteWithGzip({ name, written })
    const answer = await get(`/${RELEASE}/${name}`, { 'accept-encoding': 'gzip' })
    expect(answer.body).toBe(CSV)
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(answer.headers.vary).toBeUndefined()
  })

  test('is not sent where no manifest lists it', async () => {
    const { get } = await site({ 'data.csv': CSV, 'data.csv.gz': GZIP })
    const answer = await get('/data.csv', { 'accept-encoding': 'gzip' })
    expect([answer.body, answer.headers['content-encoding'], answer.headers.vary]).toEqual([CSV, undefined, undefined])
  })

  test('is not sent where it is a link or a folder', async () => {
    const { get, publicDir, write } = await siteWithGzip()
    const gzip = join(publicDir, `${PATH}.gz`)
    await rename(gzip, join(publicDir, 'elsewhere.gz'))
    await symlink(join(publicDir, 'elsewhere.gz'), gzip)
    expect((await get(PATH, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined()
    await rm(gzip)
    await write(`${PATH}.gz/index.html`, '')
    expect((await get(PATH, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined()
  })

  test('is no longer sent once the file has changed', async () => {
    const { get, publicDir, write } = await siteWithGzip()
    const gzip = { 'accept-encoding': 'gzip' }
    await get(PATH, gzip)
    await write('new', 'a,c\n'.repeat(99))
    await rename(join(publicDir, 'new'), join(publicDir, PATH))
    expect((await get(PATH, gzip)).body).toBe('a,c\n'.repeat(99))
  })

  test('by its own name is a file as any other', async () => {
    const { get } = await siteWithGzip()
    const answer = await get(`${PATH}.gz`, { 'accept-encoding': 'gzip' })
    expect(answer.rawPayload).toEqual(GZIP)
    expect(answer.headers).toMatchObject({ 'content-type': 'application/gzip', etag: tagOf(GZIP) })
    expect(answer.headers['content-encoding']).toBeUndefined()
  })
})

describe('from memory and as it is read a file is answered alike', () => {
  const LARGE = Buffer.alloc(300 * 1024, TEXT)

  async function files() {
    const setup = await siteWithGzip()
    for (const [path, bytes] of [
      ['page.html', TEXT],
      ['empty.txt', ''],
      ['large.csv', LARGE],
    ] as const) {
      await setup.write(path, bytes)
    }
    return setup
  }

  const REQUESTS: [string, Record<string, string>, number][] = [
    ['as a whole', {}, 200],
    ['as gzip', { 'accept-encoding': 'gzip' }, 200],
    ['in part', { range: 'bytes=2-4' }, 206],
    ['beyond its end', { range: 'bytes=999999-' }, 416],
    ['unchanged', { 'if-none-match': '*' }, 304],
    ['in another state', { 'if-match': '"x"' }, 412],
  ]

  test.each(REQUESTS)('%s', async (_what, headers, status) => {
    const { get } = await files()
    for (const path of [PATH, '/page.html', '/large.csv']) {
      for (const method of ['GET', 'HEAD'] as const) {
        const [first, second] = [await get(path, headers, method), await get(path, headers, method)]
        if (method === 'GET') expect(first.statusCode).toBe(status)
        expect([second.statusCode, second.rawPayload]).toEqual([first.statusCode, first.rawPayload])
        const ignored = { 'x-request-id': '', date: '' }
        expect({ ...second.headers, ...ignored }).toEqual({ ...first.headers, ...ignored })
      }
    }
  })

  test('also a large one, and an empty one', async () => {
    const { get } = await files()
    const whole = await get('/large.csv')
    expect(whole.rawPayload.equals(LARGE)).toBe(true)
    expect(whole.headers['content-length']).toBe(String(LARGE.length))
    expect((await get('/large.csv', { range: 'bytes=-3' })).body).toBe('789')
    const head = await get('/large.csv', {}, 'HEAD')
    expect([head.body, head.headers['content-length']]).toEqual(['', String(LARGE.length)])
    for (let turn = 0; turn < 2; turn++) {
      const empty = await get('/empty.txt')
      expect([empty.statusCode, empty.body, empty.headers['content-length']]).toEqual([200, '', '0'])
    }
  })

  test('to all who ask at once', async () => {
    const { get } = await files()
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('/page.html')))
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(new Set([`200 ${TEXT}`]))
  })
})

test('answers of the API that are published as files need no key, and are no routes of the API', async () => {
  const { app, get } = await site({ 'api/v1/datasets/rankings-daily.json': '{}' })
  const answer = await get('/api/v1/datasets/rankings-daily.json')
  expect([answer.statusCode, answer.body]).toEqual([200, '{}'])
  assertEnvelope(await get('/api/v1/datasets/rankings-daily'), 401)
  assertEnvelope(await app.inject({ method: 'POST', url: '/api/v1/datasets/rankings-daily.json' }), 405)
})

test('an empty file is an empty answer', async () => {
  const { get } = await site({ 'empty.txt': '' })
  const answer = await get('/empty.txt')
  expect([answer.statusCode, answer.body, answer.headers['content-length']]).toEqual([200, '', '0'])
})

test('HEAD has the headers of GET and no body', async () => {
  const { get } = await site()
  const answer = await get('/data.csv', {}, 'HEAD')
  expect([answer.statusCode, answer.body]).toEqual([200, ''])
  expect(answer.headers).toMatchObject({
    etag: ETAG,
    'content-length': '10',
    'content-type': 'text/csv; charset=utf-8',
  })
})

describe('folders', () => {
  test('have their index.html, the site itself included', async () => {
    const { get } = await site({ 'index.html': 'home', 'guide/index.html': 'guide' })
    expect((await get('/')).body).toBe('home')
    expect((await get('/guide/')).body).toBe('guide')
  })

  test('without a trailing slash are redirected, the query kept', async () => {
    const { get } = await site({ 'guide/index.html': 'guide' })
    const answer = await get('/guide?a=1?b')
    expect(answer.statusCode).toBe(301)
    expect(answer.headers.location).toBe('/guide/?a=1?b')
  })

  test('without an index are not found', async () => {
    const { get } = await site({ 'guide/other.html': 'x' })
    assertEnvelope(await get('/guide'), 404)
    assertEnvelope(await get('/guide/'), 404)
    assertEnvelope(await get('/'), 404)
  })
})

test('a missing file is 404, and so is a path that leaves the folder', async () => {
  const { get } = await site({ 'data.csv': TEXT, '.hidden': 'secret' })
  for (const path of ['/missing.csv', '/data.csv/', '/..%2f..%2fetc%2fpasswd', '/.hidden']) {
    assertEnvelope(await get(path), 404)
  }
})

describe('cache policy', () => {
  const IMMUTABLE = 'public, max-age=31536000, immutable'
  const REVALIDATED = 'public, max-age=60, must-revalidate'

  test.each([
    ['releases/20250210T001200Z/manifest.json', IMMUTABLE],
    ['releases/20250210T001200Z/rankings-daily.csv.gz', IMMUTABLE],
    ['releases/20250210T001200Z/index.html', IMMUTABLE],
    ['releases/index.json', REVALIDATED],
    ['releases/20250209T001200Z/TOMBSTONE.json', REVALIDATED],
    ['releases/draft/manifest.json', REVALIDATED],
    ['latest/manifest.json', REVALIDATED],
    ['latest.json', REVALIDATED],
    ['coverage.json', REVALIDATED],
    ['daily/2025-01-01.csv', REVALIDATED],
    ['daily/2025-01-01/r1.csv', IMMUTABLE],
    ['daily/2025-01-01/r12.parquet', IMMUTABLE],
    ['daily/2025-01-01/other.csv', REVALIDATED],
    ['monthly/2025-01.parquet', REVALIDATED],
    ['monthly/2025-01/r2.csv', IMMUTABLE],
  ])('of %s: %s', async (path, policy) => {
    const { publicDir, get, write } = await site()
    await write(`${FOLDER}/${path.replace(/^latest\//, 'releases/20250210T001200Z/')}`, TEXT)
    await mkdir(join(publicDir, FOLDER, 'releases/20250210T001200Z'), { recursive: true })
    await symlink('releases/20250210T001200Z', join(publicDir, FOLDER, 'latest'))
    for (const query of ['', '?x=/r1.csv']) {
      const answer = await get(`/${FOLDER}/${path}${query}`)
      expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, policy])
      const { etag } = answer.headers
      const unchanged = await get(`/${FOLDER}/${path}${query}`, { 'if-none-match': String(etag) })
      expect([unchanged.statusCode, unchanged.headers['cache-control']]).toEqual([304, policy])
    }
  })

  test.each([
    ['assets/site.0f3a5c7e.css', IMMUTABLE],
    ['assets/vendor/chart-0f3a5c7e9b1d2468.js', IMMUTABLE],
    ['assets/site.css', REVALIDATED],
    ['assets/0f3a5c7e.css', REVALIDATED],
    ['catalog.json', REVALIDATED],
    ['feed.atom', REVALIDATED],
    ['r1.csv', REVALIDATED],
    ['other/datasets/rankings-daily/v1/daily/2025-01-01/r1.csv', REVALIDATED],
  ])('of %s: %s', async (path, policy) => {
    const { get } = await site({ [path]: TEXT })
    expect((await get(`/${path}`)).headers['cache-control']).toBe(policy)
  })

  test('errors and what is missing are not kept', async () => {
    const { get } = await site({ [`${FOLDER}/releases/20250210T001200Z/a.csv`]: TEXT })
    const path = `/${FOLDER}/releases/20250210T001200Z`
    for (const [url, headers] of [
      [`${path}/b.csv`, {}],
      [`${path}/a.csv`, { range: 'bytes=99-' }],
      [`${path}/a.csv`, { 'if-match': '"x"' }],
    ] as const) {
      expect((await get(url, headers)).headers['cache-control']).toBe('no-store')
    }
  })
})

describe('a withdrawn release', () => {
  async function withdrawn() {
    const setup = await site()
    const release = await publish(setup.publicDir, sampleRows({ days: 2 }))
    await withdraw(setup.publicDir, release)
    const folder = `/${FOLDER}/releases/${release}`
    return { ...setup, release, folder }
  }

  test.each([
    '',
    '/',
    '/manifest.json',
    '/rankings-daily.csv',
    '/never-was.csv',
    '/TOMBSTONE.json/',
    '/%6Danifest.json',
  ])('is 410 at its folder%s', async (path) => {
    const { get, folder, release } = await withdrawn()
    const answer = await get(folder + path)
    const { error } = assertEnvelope(answer, 410)
    expect(error.message).toContain(release)
    expect(error.metadata).toEqual({ tombstone: `${folder}/TOMBSTONE.json` })
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('has its tombstone, which is not kept for long', async () => {
    const { get, folder, release } = await withdrawn()
    const answer = await get(`${folder}/TOMBSTONE.json`)
    expect([answer.statusCode, answer.json().release]).toEqual([200, release])
    expect(answer.headers['cache-control']).toBe('public, max-age=60, must-revalidate')
  })

  test('is 410 also while its files are still there', async () => {
    const { publicDir, get, write } = await site()
    const release = await publish(publicDir, sampleRows({ days: 2 }))
    const path = `/${FOLDER}/releases/${release}/manifest.json`
    expect((await get(path)).statusCode).toBe(200)
    await write(`${FOLDER}/releases/${release}/TOMBSTONE.json`, '{}')
    assertEnvelope(await get(path), 410)
    await rm(join(publicDir, FOLDER, 'releases', release, 'TOMBSTONE.json'))
    expect((await get(path)).statusCode).toBe(200)
  })

  test('leaves other releases as they are, and knows no other methods', async () => {
    const { app, publicDir, get, folder } = await withdrawn()
    const other = await publish(publicDir, sampleRows({ days: 2 }), { asOf: '2025-02-11T00:00:00Z' })
    expect((await get(`/${FOLDER}/releases/${other}/manifest.json`)).statusCode).toBe(200)
    assertEnvelope(await app.inject({ method: 'DELETE', url: `${folder}/manifest.json` }), 405)
  })
})

describe('latest', () => {
  test('can be reached through the latest symlink', async () => {
    const { publicDir, get } = await site()
    const release = await publish(publicDir, sampleRows({ days: 2 }))
    await symlink(`releases/${release}`, join(publicDir, FOLDER, 'latest'))
    const [viaLink, direct] = [
      await get(`/${FOLDER}/latest/rankings-daily.csv`),
      await get(`/${FOLDER}/releases/${release}/rankings-daily.csv`),
    ]
    expect(viaLink.statusCode).toBe(200)
    expect(viaLink.body).toBe(direct.body)
    expect(viaLink.headers.etag).toBe(direct.headers.etag)
  })

  test('says of which release a file is', async () => {
    const { publicDir, get } = await site()
    const release = await publish(publicDir, sampleRows({ days: 2 }))
    await symlink(`releases/${release}`, join(publicDir, FOLDER, 'latest'))
    const location = `/${FOLDER}/releases/${release}/rankings-daily.csv`
    const url = `/${FOLDER}/latest/rankings-daily.csv`
    const whole = await get(url)
    expect(whole.headers['content-location']).toBe(location)
    const unchanged = await get(url, { 'if-none-match': String(whole.headers.etag) })
    expect([unchanged.statusCode, unchanged.headers['content-location']]).toEqual([304, location])
    const part = await get(url, { range: 'bytes=0-3' })
    expect([part.statusCode, part.headers['content-location']]).toEqual([206, location])
    expect((await get(url, { range: 'bytes=9999999-' })).headers['content-location']).toBeUndefined()
    expect((await get(location)).headers['content-location']).toBeUndefined()
  })

  test('tells the hash of the rows with the files that hold them all', async () => {
    const { publicDir, get } = await site()
    const release = await publish(publicDir, sampleRows({ days: 2 }), {
      spoilManifest: ({ files, ...manifest }) =>
        files.push({ path: 'changes.csv', media_type: 'text/csv', bytes: 10, sha256: manifest.content_hash.slice(7) }),
    })
    const folder = `/${FOLDER}/releases/${release}`
    const { content_hash } = (await get(`${folder}/manifest.json`)).json()
    await writeFile(join(publicDir, folder, 'changes.csv'), TEXT)
    const hashOf = async (name: string) => (await get(`${folder}/${name}`)).headers['x-content-hash']
    expect(await hashOf('rankings-daily.csv')).toBe(content_hash)
    expect(await hashOf('rankings-daily.ndjson.gz')).toBe(content_hash)
    expect(await hashOf('changes.csv')).toBeUndefined()
    expect(await hashOf('manifest.json')).toBeUndefined()
  })
})
