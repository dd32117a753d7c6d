/** What published files need beyond the exchanges in `test/server/exchanges/files.http`. */
import { createHash } from 'node:crypto'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { temporaryFolder, testApp } from '../../support/app.ts'
import { FOLDER, publish, sampleRows } from '../../support/publish.ts'

const TEXT = '0123456789'

async function site() {
  const publicDir = await temporaryFolder()
  const write = async (path: string, text: string | Buffer) => {
    await mkdir(dirname(join(publicDir, path)), { recursive: true })
    await writeFile(join(publicDir, path), text)
  }
  const { app } = await testApp({ publicDir })
  const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url, headers })
  return { publicDir, get, write }
}

const CSV = 'a,b\n'.repeat(100)
const GZIP = gzipSync(CSV)
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

test.each([
  ['has another size than the manifest lists', 'data.csv', GZIP.subarray(0, -9)],
  ['is empty', 'data.csv', Buffer.alloc(0)],
  ['stands beside a Parquet file', 'data.parquet', GZIP],
])('the gzip beside a file is not sent when it %s', async (_why, name, written) => {
  const { get } = await siteWithGzip({ name, written })
  const { headers, body } = await get(`/${RELEASE}/${name}`, { 'accept-encoding': 'gzip' })
  expect([body, headers['content-encoding'], headers.vary]).toEqual([CSV, undefined, undefined])
})

test('the gzip beside a file is not sent when the file has changed since, or when it is a link or a folder', async () => {
  const { get, publicDir, write } = await siteWithGzip()
  const sent = async () => {
    const { headers, body } = await get(PATH, { 'accept-encoding': 'gzip' })
    return headers['content-encoding'] ?? body
  }
  expect(await sent()).toBe('gzip')
  const changed = 'a,c\n'.repeat(99)
  await write('new', changed)
  await rename(join(publicDir, 'new'), join(publicDir, PATH))
  expect(await sent()).toBe(changed)
  const gzip = join(publicDir, `${PATH}.gz`)
  await rename(gzip, join(publicDir, 'elsewhere.gz'))
  await symlink(join(publicDir, 'elsewhere.gz'), gzip)
  expect(await sent()).toBe(changed)
  await rm(gzip)
  await write(`${PATH}.gz/index.html`, '')
  expect(await sent()).toBe(changed)
})

describe('a file is answered from memory as it is from disk', () => {
  const LARGE = Buffer.alloc(300 * 1024, TEXT)

  async function files() {
    const setup = await siteWithGzip()
    await setup.write('page.html', TEXT)
    await setup.write('large.csv', LARGE)
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

  test('when it is larger than memory keeps, and to many who ask at once', async () => {
    const { get } = await files()
    const whole = await get('/large.csv')
    expect(whole.rawPayload.equals(LARGE)).toBe(true)
    expect(whole.headers['content-length']).toBe(String(LARGE.length))
    expect((await get('/large.csv', { range: 'bytes=-3' })).body).toBe('789')
    const head = await get('/large.csv', {}, 'HEAD')
    expect([head.body, head.headers['content-length']]).toEqual(['', String(LARGE.length)])
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('/page.html')))
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(new Set([`200 ${TEXT}`]))
  })
})

test('X-Content-Hash comes only with the files of all rows, not with another file of that hash', async () => {
  const { publicDir, get } = await site()
  const release = await publish(publicDir, sampleRows({ days: 2 }), {
    periods: true,
    spoilManifest: ({ files, ...manifest }) =>
      files.push({ path: 'changes.csv', media_type: 'text/csv', bytes: 10, sha256: manifest.content_hash.slice(7) }),
  })
  const folder = `/${FOLDER}/releases/${release}`
  const { content_hash, tables } = (await get(`${folder}/manifest.json`)).json()
  await writeFile(join(publicDir, folder, 'changes.csv'), TEXT)
  const hashOf = async (name: string) => (await get(`${folder}/${name}`)).headers['x-content-hash']
  expect(await hashOf('rankings-daily.csv')).toBe(content_hash)
  expect(await hashOf('rankings-daily.ndjson.gz')).toBe(content_hash)
  expect(await hashOf('rankings-weekly.csv')).toBe(tables.weekly.content_hash)
  expect(await hashOf('changes.csv')).toBeUndefined()
  expect(await hashOf('manifest.json')).toBeUndefined()
})
