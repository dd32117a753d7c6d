/** Every kind of page in Chromium, on every host, light and dark, on a desktop and on a phone. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  browserOf,
  type Chromium,
  DESKTOP,
  expectAccessible,
  expectNoSidewaysScroll,
  openPage,
  PHONE,
  startChromium,
  stopChromium,
} from './chromium.ts'
import { HOST_KINDS } from './hosting.ts'
import { pagesOf, type SampleSite, serveSampleSite } from './sample-site.ts'

let site: SampleSite
let chromium: Chromium
let pages: string[]

beforeAll(async () => {
  site = await serveSampleSite()
  pages = await pagesOf(site.publicDir)
  chromium = await startChromium()
})

afterAll(async () => {
  await stopChromium(chromium)
  await site?.stop()
})

const SCREENS = [
  { name: 'desktop', viewport: DESKTOP },
  { name: 'phone', viewport: PHONE },
]

const LOOKS = SCREENS.flatMap((screen) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ ...screen, colorScheme, host: 'server' as const })),
)

// Below a sub-path they look no different, so that one look at it is enough.
describe('pages', () => {
  test.for([...LOOKS, { name: 'desktop', viewport: DESKTOP, colorScheme: 'light' as const, host: 'subPath' as const }])(
    'are accessible and complain of nothing, $host, $name, $colorScheme',
    async (look, context) => {
      const { viewport, colorScheme, host } = look
      const browser = browserOf(chromium, context)
      expect(pages).toEqual(expect.arrayContaining(['index.html', 'explore.html']))
      const top = site.hosts[host]
      const { page, complaints } = await openPage(browser, new URL(top).origin, { viewport, colorScheme })
      for (const path of pages) {
        await page.goto(top + path)
        await page.waitForLoadState('networkidle')
        await expectAccessible(page)
        await expectNoSidewaysScroll(page)
        expect(complaints, path).toEqual([])
      }
    },
  )
})

const [nginx] = HOST_KINDS.filter(({ name }) => name === 'nginx')

test('pages from nginx, as docs/hosting.md sets it up, complain of nothing', async (context) => {
  const browser = browserOf(chromium, context)
  if (nginx === undefined || !nginx.isHere) {
    process.stderr.write('SKIPPED, NOT PROVED: no nginx: install the package nginx-light\n')
    return context.skip('no nginx')
  }
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-nginx-'))
  const host = await nginx.start(site.publicDir, folder)
  onTestFinished(async () => {
    await host.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const { page, complaints } = await openPage(browser, host.url)
  for (const path of pages) {
    await page.goto(`${host.url}/${path}`)
    await page.waitForLoadState('networkidle')
    expect(await page.locator('h1').count(), path).toBe(1)
    expect(complaints, path).toEqual([])
  }
})

test('links between pages lead to pages, also below a sub-path', async (context) => {
  const browser = browserOf(chromium, context)
  const top = site.hosts.subPath
  const { page } = await openPage(browser, new URL(top).origin)
  const hrefs = new Set<string>()
  for (const path of pages) {
    await page.goto(top + path)
    const all = await page
      .locator('main a[href]')
      .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href))
    for (const href of all) if (href.startsWith(new URL(top).origin)) hrefs.add(href.replace(/#.*/, ''))
  }
  expect(hrefs.size).toBeGreaterThan(10)
  for (const href of hrefs) {
    expect(href.startsWith(top), href).toBe(true)
    expect((await fetch(href, { method: 'HEAD' })).status, href).toBe(200)
  }
})
