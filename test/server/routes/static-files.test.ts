import { createHash } from 'node:crypto'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { FOLDER, publish, sampleRows } from '../../support/publish.ts'

const TEXT = '0123456789'
const ETAG = `"sha256-${createHash('sha256').update(TEXT).digest('hex')}"`

async function site(files: Record<string, string> = { 'data.csv': TEXT }) {
  const publicDir = await temporaryFolder()
  const write = async (path: string, text: string) => {
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

describe('releases', () => {
  test('are kept for a year by caches, what points at them for a minute', async () => {
    const { publicDir, get } = await site()
    const release = await publish(publicDir, sampleRows({ days: 2 }))
    await symlink(`releases/${release}`, join(publicDir, FOLDER, 'latest'))
    const policy = async (path: string) => (await get(`/${FOLDER}/${path}`)).headers['cache-control']
    expect(await policy(`releases/${release}/manifest.json`)).toBe('public, max-age=31536000, immutable')
    expect(await policy('latest/manifest.json')).toBe('public, max-age=60, must-revalidate')
    expect(await policy('latest.json')).toBe('public, max-age=60, must-revalidate')
  })

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
  })
})
