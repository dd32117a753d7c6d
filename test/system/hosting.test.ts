/**
 * The configurations of deploy/static/, in the servers that they are for: types, cache policy, ranges, tags, the gzip
 * beside a file, pages of other origins in Chromium, withdrawn releases. What is not installed is skipped and says so.
 */
import { copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { deriveCommand, historyQuery } from '../../pipeline/contract/history-table.ts'
import { mediaType } from '../../pipeline/contract/published-paths.ts'
import { toEnvelope } from '../../server/api/envelope.ts'
import { dropped } from '../../server/published/gone.ts'
import { cachePolicy } from '../../server/published/static-answers.ts'
import { createWorkspace, removeWorkspace, type Workspace, withdrawIn } from '../support/pipeline.ts'
import { browserOf, type Chromium, startChromium, stopChromium } from './chromium.ts'
import { exportTo, HOST_KINDS, type Host, release, skipLoudly } from './hosting.ts'

const DATASET = '/datasets/rankings-daily/v1'
const PARQUET = `${DATASET}/latest/rankings-daily.parquet`
const CSV = `${DATASET}/latest/rankings-daily.csv`
const DROPPED = '20250310T090000Z'
const FIRST = '20250310T100000Z'
const WITHDRAWN = '20250310T110000Z'
const JSON_TYPE = 'application/json; charset=utf-8'
const THIRD = '20250310T130000Z'
const BROWSER = 'text/html,*/*;q=0.8'

let workspace: Workspace
let site: string
let chromium: Chromium

beforeAll(async () => {
  chromium = await startChromium()
  workspace = await createWorkspace()
  site = join(workspace.root, 'site')
  await release(workspace, 1000, '2025-03-10T10:00:00Z')
  await release(workspace, 2000, '2025-03-10T11:00:00Z')
  await withdrawIn(workspace, WITHDRAWN, '2025-03-10T12:00:00Z')
  await exportTo(workspace, site)
  // What these hosts see of a dropped release.
  await mkdir(join(site, DATASET, 'releases', DROPPED))
  await copyFile(manifestOf(FIRST), manifestOf(DROPPED))
})

const manifestOf = (release: string) => join(site, DATASET, 'releases', release, 'manifest.json')

afterAll(async () => {
  await stopChromium(chromium)
  await removeWorkspace(workspace)
})

interface Answer {
  status: number
  headers: Headers
  body: Buffer
}

describe.each(HOST_KINDS)('$name, as deploy/static/ has it', ({ name, isHere, start }) => {
  let host: Host

  beforeAll(async () => {
    if (!isHere) return
    host = await start(site, await ownFolder(name))
  })

  afterAll(async () => {
    if (isHere) await host.stop()
  })

  if (!isHere) {
    it('is not tested: it is not installed', ({ skip }) => {
      skipLoudly(skip, `${name} is not installed, so its file in deploy/static/ was not run`)
    })
  }

  /** As it comes over the wire: `fetch` would decompress. */
  async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const sent = request(new URL(path, host.url), { method, headers }, async (response) => {
      const chunks = await Array.fromAsync(response)
      resolve({
        status: response.statusCode ?? 0,
        headers: new Headers(Object.entries(response.headers).map(([key, value]) => [key, String(value)])),
        body: Buffer.concat(chunks),
      })
    })
    sent.on('error', reject).end()
    return promise
  }

  const file = (path: string) => readFile(join(site, path))

  describe.runIf(isHere)('it', () => {
    it('serves every file with the bytes, media type and cache policy of tokenboard serve', async () => {
      const paths = await pathsBelow(site)
      expect(paths.length).toBeGreaterThan(60)
      for (const path of paths) {
        const { status, headers, body } = await get(path)
        expect({ path, status, type: headers.get('content-type'), cache: headers.get('cache-control') }).toEqual({
          path,
          status: 200,
          type: mediaType(path),
          cache: cachePolicy(path),
        })
        expect(body.equals(await file(path)), path).toBe(true)
        expect(headers.get('access-control-allow-origin'), path).toBe('*')
        expect(headers.get('x-content-type-options'), path).toBe('nosniff')
      }
    })

    it('serves the landing page', async () => {
      const page = await get('/')
      expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
        200,
        mediaType('/index.html'),
        cachePolicy('/'),
      ])
      expect(page.body).toEqual(await file('index.html'))
    })

    it('serves parts of the Parquet file while its tag is the same', async () => {
      const whole = await file(PARQUET)
      const { status, headers, body } = await get(PARQUET, { range: 'bytes=0-3' })
      expect([status, body.toString(), headers.get('content-range')]).toEqual([
        206,
        'PAR1',
        `bytes 0-3/${whole.length}`,
      ])
      expect((await get(PARQUET, { range: 'bytes=-8' })).body).toEqual(whole.subarray(-8))
      expect((await get(PARQUET, { range: `bytes=${whole.length}-` })).status).toBe(416)
      expect((await get(PARQUET)).headers.get('accept-ranges')).toBe('bytes')
      const tag = headers.get('etag') ?? ''
      expect(tag).toMatch(/^"/)
      expect((await get(PARQUET, { range: 'bytes=0-3', 'if-range': tag })).status).toBe(206)
      expect((await get(PARQUET, { range: 'bytes=0-3', 'if-range': '"another"' })).status).toBe(200)
    })

    it('answers 304 for the current tag', async () => {
      const { headers } = await get(CSV)
      const again = await get(CSV, { 'if-none-match': headers.get('etag') ?? '' })
      expect([again.status, again.body.length, again.headers.get('cache-control')]).toEqual([304, 0, cachePolicy(CSV)])
      expect((await get(CSV, { 'if-none-match': '"another"' })).status).toBe(200)
    })

    it('sends the gzip beside a CSV to clients that accept it, with its own tag', async () => {
      const [plain, packed] = [await get(CSV), await get(CSV, { 'accept-encoding': 'gzip' })]
      expect(packed.headers.get('content-encoding')).toBe('gzip')
      expect(packed.headers.get('content-type')).toBe(mediaType(CSV))
      expect(packed.body).toEqual(await file(`${CSV}.gz`))
      expect(gunzipSync(packed.body)).toEqual(plain.body)
      expect(packed.headers.get('vary')).toMatch(/accept-encoding/i)
      expect(packed.headers.get('etag')).not.toBe(plain.headers.get('etag'))
      const download = await get(`${CSV}.gz`, { 'accept-encoding': 'gzip' })
      expect(download.headers.get('content-encoding')).toBeNull()
      expect((await get(PARQUET, { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBeNull()
    })

    it('sends pages, styles, scripts and JSON compressed, with the headers of the text', async () => {
      const names = (await readdir(join(site, 'assets'))).filter((name) => /^explore-\w+\.js$/.test(name))
      for (const path of ['/', '/explore.html', '/assets/site.css', `/assets/${names[0]}`, '/catalog.json']) {
        const text = path === '/' ? '/index.html' : path
        const packed = await get(path, { 'accept-encoding': 'gzip' })
        expect([packed.status, packed.headers.get('content-encoding')], path).toEqual([200, 'gzip'])
        expect(packed.headers.get('content-type'), path).toBe(mediaType(text))
        expect(packed.headers.get('cache-control'), path).toBe(cachePolicy(text))
        expect(packed.headers.get('vary'), path).toMatch(/accept-encoding/i)
        expect(gunzipSync(packed.body).equals(await file(text)), path).toBe(true)
        expect((await get(path)).headers.get('content-encoding'), path).toBeNull()
      }
    })

    it('lets pages of any origin request parts and read their headers', async () => {
      const asked = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
      const { status, headers } = await get(PARQUET, { ...asked, 'access-control-request-headers': 'range' }, 'OPTIONS')
      expect(status).toBe(204)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS')
      expect(headers.get('access-control-allow-headers')).toMatch(/\bRange$/)
      expect(headers.get('access-control-max-age')).toBe('86400')
      const answer = await get(PARQUET, { range: 'bytes=0-3' })
      const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
      expect(exposed).toEqual(expect.arrayContaining(['ETag', 'Content-Range', 'Content-Length', 'Accept-Ranges']))
      expect(answer.headers.get('access-control-allow-methods')).toBeNull()
    })

    it('lets a page of another origin read parts, tags and compressed files in a browser', async (context) => {
      const page = await browserOf(chromium, context).newPage()
      const origin = createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end('<!doctype html>'),
      )
      await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening))
      onTestFinished(() => void origin.close())
      await page.goto(`http://127.0.0.1:${(origin.address() as AddressInfo).port}/`)
      const seen = (path: string, headers: Record<string, string> = {}) =>
        page.evaluate(
          async ([address, given]) => {
            const answer = await fetch(address, { headers: given, cache: 'no-store' })
            const body = Array.from(new Uint8Array(await answer.arrayBuffer()))
            return { status: answer.status, headers: Object.fromEntries(answer.headers), body }
          },
          [`${host.url}${path}`, headers] as const,
        )
      const whole = await file(PARQUET)
      // The end of a file, or a part on a condition: the browser sends a preflight before such requests.
      const end = await seen(PARQUET, { range: 'bytes=-8' })
      expect([end.status, Buffer.from(end.body)]).toEqual([206, whole.subarray(-8)])
      expect(end.headers).toMatchObject({
        'content-range': `bytes ${whole.length - 8}-${whole.length - 1}/${whole.length}`,
        'content-length': '8',
        'content-type': 'application/vnd.apache.parquet',
      })
      const tag = new Headers(end.headers).get('etag') ?? ''
      const start = await seen(PARQUET, { range: 'bytes=0-3', 'if-range': tag })
      expect([start.status, Buffer.from(start.body).toString()]).toEqual([206, 'PAR1'])
      expect((await seen(PARQUET, { 'if-none-match': tag })).status).toBe(304)
      for (const path of [`${DATASET}/latest.json`, CSV])
        expect(Buffer.from((await seen(path)).body)).toEqual(await file(path))
      expect((await seen(CSV)).headers['content-encoding']).toBe('gzip')
    })

    it('answers with 410 and the tombstone below a withdrawn release', async () => {
      const folder = `${DATASET}/releases/${WITHDRAWN}`
      const tombstone = await get(`${folder}/TOMBSTONE.json`)
      expect([tombstone.status, tombstone.headers.get('cache-control')]).toEqual([200, cachePolicy('/')])
      for (const path of ['manifest.json', 'rankings-daily.csv', '']) {
        const { status, headers, body } = await get(`${folder}/${path}`)
        expect([status, headers.get('content-type')], path).toEqual([410, JSON_TYPE])
        expect(body, path).toEqual(tombstone.body)
        expect(headers.get('cache-control') ?? '', path).not.toContain('immutable')
        expect(headers.get('access-control-allow-origin'), path).toBe('*')
      }
      const page = await readFile(join(site, DATASET, 'releases', WITHDRAWN, 'index.html'))
      for (const path of ['rankings-daily.csv', '']) {
        const { status, headers, body } = await get(`${folder}/${path}`, { accept: BROWSER })
        expect([status, headers.get('content-type')], path).toEqual([410, 'text/html; charset=utf-8'])
        expect(body, path).toEqual(page)
      }
      expect((await get(`${DATASET}/releases/${FIRST}/manifest.json`)).status).toBe(200)
    })

    it('answers 404 with the page for people', async () => {
      const { status, headers, body } = await get('/models/none.html', { accept: BROWSER })
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(body).toEqual(await readFile(join(site, '404.html')))
    })

    it('answers with 410 for a data file of a dropped release, as tokenboard serve does', async () => {
      const folder = `${DATASET}/releases/${DROPPED}`
      const file = { release: DROPPED, name: 'rankings-weekly.csv.gz', table: 'weekly' } as const
      const forPrograms = await get(`${folder}/${file.name}`)
      expect([forPrograms.status, forPrograms.headers.get('content-type')]).toEqual([410, JSON_TYPE])
      expect(JSON.parse(forPrograms.body.toString())).toEqual(toEnvelope(dropped(file)).body)
      const forPeople = await get(`${folder}/${file.name}`, { accept: BROWSER })
      expect([forPeople.status, forPeople.headers.get('content-type')]).toEqual([410, 'text/html; charset=utf-8'])
      expect(forPeople.body.toString()).toContain(historyQuery(DROPPED, 'weekly'))
      expect(forPeople.body.toString()).toContain(deriveCommand(DROPPED))
      expect(forPeople.headers.get('access-control-allow-origin')).toBe('*')
      expect((await get(`${folder}/manifest.json`)).status).toBe(200)
      expect((await get(`${folder}/changes.csv`)).status).toBe(404)
      expect((await get(`${DATASET}/releases/${THIRD}/${file.name}`)).status).toBe(404)
    })

    it('answers 404 for missing and hidden files, not to be cached for long', async () => {
      const paths = [`${DATASET}/releases/${THIRD}/manifest.json`, '/.tokenboard-export/list.json', '/none.json']
      for (const path of paths) {
        const { status, headers } = await get(path)
        expect(status, path).toBe(404)
        expect(headers.get('cache-control') ?? '', path).not.toContain('immutable')
        expect(headers.get('access-control-allow-origin'), path).toBe('*')
      }
    })
  })
})

describe.runIf(HOST_KINDS.some(({ isHere }) => isHere))('the next export', () => {
  it('is served at once with other tags', async () => {
    const kinds = HOST_KINDS.filter(({ isHere }) => isHere)
    const hosts = await Promise.all(kinds.map(async ({ name, start }) => start(site, await ownFolder(`next ${name}`))))
    try {
      const tagsOf = () => Promise.all(hosts.map(async ({ url }) => (await fetch(`${url}${CSV}`)).headers.get('etag')))
      const before = await tagsOf()
      await release(workspace, 3000, '2025-03-10T13:00:00Z')
      await exportTo(workspace, site)
      const after = await tagsOf()
      for (const [position, { url }] of hosts.entries()) {
        const pointer = (await (await fetch(`${url}${DATASET}/latest.json`)).json()) as { release: string }
        expect(pointer.release).toBe(THIRD)
        expect(after[position]).not.toBe(before[position])
      }
    } finally {
      for (const host of hosts) await host.stop()
    }
  })
})

async function ownFolder(name: string): Promise<string> {
  const folder = join(workspace.root, 'hosts', name.replaceAll(' ', '-'))
  await mkdir(folder, { recursive: true })
  return folder
}

/** The paths of a site, through its link too, without what is hidden. */
async function pathsBelow(folder: string, root = folder): Promise<string[]> {
  const paths: string[] = []
  for (const name of (await readdir(folder)).filter((each) => !each.startsWith('.')).sort()) {
    const path = join(folder, name)
    if ((await stat(path)).isDirectory()) paths.push(...(await pathsBelow(path, root)))
    else paths.push(`/${relative(root, path)}`)
  }
  return paths.filter((path) => !path.endsWith('/index.html'))
}
