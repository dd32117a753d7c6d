/**
 * Every kind of page in Chromium, on the server and on static hosts; and what a reader with a phone sees: numbers without
 * scrolling sideways, few screens, targets that a thumb hits.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { browserOf, DESKTOP, expectAccessible, openPage, PHONE, smallTargets } from './chromium.ts'
import { HOST_KINDS, skipLoudly } from './hosting.ts'
import { expectGoodPages, type Look } from './looks.ts'
import { pagesOf, siteInChromium } from './sample-site.ts'

const VIEWPORT = { width: 375, height: 812 }
const MOST_SCREENS = 6

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

async function openOn(context: TestContext, path: string): Promise<Page> {
  const top = given.site.hosts.server
  const { page } = await openPage(browserOf(given.chromium, context), new URL(top).origin, { viewport: VIEWPORT })
  await page.goto(top + path)
  await page.waitForLoadState('networkidle')
  return page
}

test.for(['index.html', 'leaderboards/week.html', 'leaderboards/all.html'])(
  'each row of the rankings of %s shows its numbers without scrolling',
  async (path, context) => {
    const page = await openOn(context, path)
    const hidden = await page.evaluate<string[]>(`[...document.querySelectorAll('.ranking tbody tr')].filter((row) => {
      const places = [...row.cells].map((cell) => cell.getBoundingClientRect()).filter(({ width }) => width > 0)
      return places.length < 4 || places.some(({ left, right, height }) => left < 0 || right > innerWidth || height === 0)
    }).map((row) => row.textContent)`)
    expect(hidden).toEqual([])
    expect(await page.locator('.ranking').count()).toBeGreaterThan(0)
    const scrolling = await page.evaluate(
      `[...document.querySelectorAll('.scroll:has(.ranking)')].filter((each) => each.scrollWidth > each.clientWidth).length`,
    )
    expect(scrolling).toBe(0)
  },
)

test('the overview is a few screens tall', async (context) => {
  const page = await openOn(context, 'index.html')
  const height = await page.evaluate('document.documentElement.scrollHeight')
  expect(Number(height)).toBeLessThanOrEqual(MOST_SCREENS * VIEWPORT.height)
})

test.for(['index.html', 'leaderboards/week.html', 'models.html', 'coverage.html', 'changelog.html'])(
  'links and buttons of %s are large enough or far enough apart',
  async (path, context) => expect(await smallTargets(await openOn(context, path))).toEqual([]),
)

test('forced colors mark the page and the period that are shown by lines', async (context) => {
  const origin = new URL(given.site.hosts.server).origin
  const { page } = await openPage(browserOf(given.chromium, context), origin, {
    viewport: VIEWPORT,
    forcedColors: 'active',
  })
  await page.goto(`${given.site.hosts.server}leaderboards/week.html`)
  await expectAccessible(page)
  const widths = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[aria-current]')].map((link) => getComputedStyle(link).borderBottomWidth)`,
  )
  expect(widths).toEqual(['3px', '3px'])
})

test('the list of models can be searched and sorted', async (context) => {
  const page = await openOn(context, 'models.html?q=free')
  const names = () => page.locator('#models-list tbody tr:visible th').allTextContents()
  const free = await names()
  expect(free.length).toBeGreaterThan(0)
  for (const name of free) expect(name.toLowerCase()).toContain('free')
  expect(await page.getByRole('status').textContent()).toMatch(new RegExp(`^${free.length} of \\d+$`))
  await page.getByLabel('Find a model or author').fill('')
  const all = await names()
  await page.getByRole('button', { name: 'Model' }).click()
  expect(await names()).toEqual(all.toSorted((a, b) => a.localeCompare(b, 'en')))
  await page.getByRole('button', { name: 'Tokens' }).click()
  expect(await page.locator('#models-list [aria-sort="descending"]').textContent()).toMatch(/^Tokens/)
  const tokens = await page.evaluate<string[]>(
    `[...document.querySelectorAll('#models-list tbody data')].map((each) => each.value)`,
  )
  expect(tokens.length).toBe(all.length)
  expect(tokens).toEqual(tokens.toSorted((a, b) => Number(BigInt(b) - BigInt(a))))
})
