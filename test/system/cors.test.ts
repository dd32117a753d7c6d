/**
 * A page of one origin that reads the dataset from a static host of another, in a browser: parts of the Parquet file, and
 * the headers that it needs for that. Where Chromium or the host is not installed it is skipped and says so.
 */
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkspace, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { type Chromium, hasChromium, startChromium, stopChromium } from './chromium.ts'
import { exportTo, HOST_KINDS, type Host, release, skipLoudly } from './hosting.ts'

const DATASET = '/datasets/rankings-daily/v1'
const PARQUET = `${DATASET}/latest/rankings-daily.parquet`

let workspace: Workspace
let site: string
let origin: Server
let chromium: Chromium
let page: Page

beforeAll(async () => {
  if (!hasChromium) return
  workspace = await createWorkspace()
  site = join(workspace.root, 'site')
  await release(workspace, 1000)
  await exportTo(workspace, site)
  origin = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  chromium = await startChromium()
  if ('reason' in chromium) throw new Error(chromium.reason)
  page = await chromium.browser.newPage()
  await page.goto(`http://127.0.0.1:${(origin.address() as AddressInfo).port}/`)
})

afterAll(async () => {
  if (!hasChromium) return
  await stopChromium(chromium)
  origin.close()
  await removeWorkspace(workspace)
})

/** What the page gets to see of an answer: its status, the headers that it may read, and the bytes as Latin-1. */
async function seen(url: string, headers: Record<string, string> = {}) {
  return page.evaluate(
    async ([address, given]) => {
      const answer = await fetch(address, { headers: given, cache: 'no-store' })
      const bytes = new Uint8Array(await answer.arrayBuffer())
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''),
      }
    },
    [url, headers] as const,
  )
}

describe.each(HOST_KINDS)('from $name', ({ name, isHere, start }) => {
  const canRun = isHere && hasChromium
  let host: Host

  beforeAll(async () => {
    if (!canRun) return
    const folder = join(workspace.root, name)
    await mkdir(folder)
    host = await start(site, folder)
  })

  afterAll(async () => {
    if (canRun) await host.stop()
  })

  if (!canRun) {
    it('is not tested: it or Chromium is not installed', ({ skip }) => {
      skipLoudly(skip, `Chromium or ${name} is not installed; no page has read from it`)
    })
  }

  describe.runIf(canRun)('a page of another origin', () => {
    it('reads parts of the Parquet file and its tag', async () => {
      const whole = (await readFile(join(site, PARQUET))).toString('latin1')
      // The end of a file, or a part on a condition: before such requests the browser asks for leave.
      const end = await seen(`${host.url}${PARQUET}`, { range: 'bytes=-8' })
      expect([end.status, end.body]).toEqual([206, whole.slice(-8)])
      expect(end.headers).toMatchObject({
        'content-range': `bytes ${whole.length - 8}-${whole.length - 1}/${whole.length}`,
        'content-length': '8',
        'content-type': 'application/vnd.apache.parquet',
      })
      const tag = new Headers(end.headers).get('etag') ?? ''
      expect(tag).toMatch(/^"/)
      const start = await seen(`${host.url}${PARQUET}`, { range: 'bytes=0-3', 'if-range': tag })
      expect([start.status, start.body]).toEqual([206, 'PAR1'])
      expect((await seen(`${host.url}${PARQUET}`, { 'if-none-match': tag })).status).toBe(304)
    })

    it('reads JSON, and the CSV compressed with gzip', async () => {
      const index = await seen(`${host.url}${DATASET}/latest.json`)
      expect(index.body).toBe((await readFile(join(site, DATASET, 'latest.json'))).toString('latin1'))
      const csv = await seen(`${host.url}${DATASET}/latest/rankings-daily.csv`)
      expect(csv.body).toBe((await readFile(join(site, DATASET, 'latest/rankings-daily.csv'))).toString('latin1'))
      expect(csv.headers['content-encoding']).toBe('gzip')
    })
  })
})
