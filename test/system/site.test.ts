/** Every kind of page in Chromium, on the server and on static hosts. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { browserOf, DESKTOP, openPage, PHONE } from './chromium.ts'
import { HOST_KINDS, skipLoudly } from './hosting.ts'
import { expectGoodPages, type Look } from './looks.ts'
import { pagesOf, siteInChromium } from './sample-site.ts'

const given = siteInChromium()

/** `test/clients/looks.test.ts` has all of them. */
const LOOKS: Look[] = [
  { name: 'desktop', viewport: DESKTOP, colorScheme: 'light', host: 'server' },
  { name: 'phone', viewport: PHONE, colorScheme: 'dark', host: 'subPath' },
]

test.for(LOOKS)(
  'pages are accessible and cause no browser errors: $host, $name, $colorScheme',
  async (look, context) => {
    const pages = await pagesOf(given.site.publicDir)
    expect(pages).toEqual(expect.arrayContaining(['index.html', 'explore.html']))
    await expectGoodPages(browserOf(given.chromium, context), given.site, pages, look)
  },
)

const [nginx] = HOST_KINDS.filter(({ name }) => name === 'nginx')

test('pages from nginx as deploy/static/ sets it up cause no browser errors', async (context) => {
  const browser = browserOf(given.chromium, context)
  if (!nginx?.isHere) return skipLoudly(context.skip, 'no nginx: install the package nginx-light')
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-nginx-'))
  const host = await nginx.start(given.site.publicDir, folder)
  onTestFinished(async () => {
    await host.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const { page, complaints } = await openPage(browser, host.url)
  for (const path of await pagesOf(given.site.publicDir)) {
    await page.goto(`${host.url}/${path}`)
    await page.waitForLoadState('networkidle')
    expect(await page.locator('h1').count(), path).toBe(1)
    expect(complaints, path).toEqual([])
  }
})

test('links between pages lead to pages, even below a sub-path', async (context) => {
  const browser = browserOf(given.chromium, context)
  const top = given.site.hosts.subPath
  const { page } = await openPage(browser, new URL(top).origin)
  const hrefs = new Set<string>()
  for (const path of await pagesOf(given.site.publicDir)) {
    await page.goto(top + path)
    const all = await page
      .locator('main a[href]')
      // Links in drawings have no text as `href`.
      .evaluateAll((links) => {
        const anchors = links as unknown as { getAttribute(name: string): string; baseURI: string }[]
        return anchors.map((link) => new URL(link.getAttribute('href'), link.baseURI).href)
      })
    for (const href of all) if (href.startsWith(new URL(top).origin)) hrefs.add(href.replace(/#.*/, ''))
  }
  expect(hrefs.size).toBeGreaterThan(10)
  for (const href of hrefs) {
    expect(href.startsWith(top), href).toBe(true)
    expect((await fetch(href, { method: 'HEAD' })).status, href).toBe(200)
  }
})

test('a script that was changed on the host does not run', async (context) => {
  const browser = browserOf(given.chromium, context)
  const top = given.site.hosts.subPath
  const folder = join(given.site.publicDir, 'assets')
  const name = (await readdir(folder)).find((each) => /^models-\w+\.js$/.test(each)) ?? ''
  const whole = await readFile(join(folder, name))
  onTestFinished(() => writeFile(join(folder, name), whole))
  /** Whether the script shows the search, and what the browser complains of. */
  const open = async () => {
    const { page, complaints } = await openPage(browser, new URL(top).origin)
    await page.goto(`${top}models.html`)
    await page.waitForLoadState('networkidle')
    return { hasSearch: await page.locator('#models-search').isVisible(), complaints }
  }
  expect(await open()).toEqual({ hasSearch: true, complaints: [] })
  const changed = Buffer.from(whole)
  changed[changed.length - 1] = 0x20
  expect(changed.equals(whole)).toBe(false)
  await writeFile(join(folder, name), changed)
  expect(await open()).toEqual({ hasSearch: false, complaints: [expect.stringContaining('integrity')] })
})
