/** What a reader with a phone sees: numbers without scrolling sideways, few screens, targets that a thumb hits. */
import type { Page } from 'playwright-core'
import { expect, type TestContext, test } from 'vitest'
import { browserOf, expectAccessible, openPage, smallTargets } from './chromium.ts'
import { siteInChromium } from './sample-site.ts'

const VIEWPORT = { width: 375, height: 812 }
const MOST_SCREENS = 6

const given = siteInChromium()

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
