/** The page of the API on a server: from the overview to a first answer, by keyboard alone on a phone. */
import { tmpdir } from 'node:os'
import type { Page } from 'playwright-core'
import { expect, type TestContext, test } from 'vitest'
import { browserOf, expectAccessible, expectNoSidewaysScroll, openPage, smallTargets } from './chromium.ts'
import { environment, run } from './clone.ts'
import { siteInChromium } from './sample-site.ts'

const PHONE = { width: 375, height: 812 }
const DESKTOP = { width: 1440, height: 1000 }

const given = siteInChromium()

async function openOn(context: TestContext, path: string, options: Parameters<typeof openPage>[2]) {
  const top = given.site.hosts.server
  const watched = await openPage(browserOf(given.chromium, context), new URL(top).origin, options)
  await watched.page.goto(top + path)
  return watched
}

/** Presses Tab until the focus is on what has this text or label. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = () =>
    page.evaluate<string>(
      `(({ id, textContent, ariaLabel }) => ariaLabel ?? (id || textContent))(document.activeElement)`,
    )
  for (let presses = 0; (await focused()) !== name; presses++) {
    expect(presses, name).toBeLessThan(60)
    await page.keyboard.press('Tab')
  }
}

test('a stranger gets from the overview to a first answer', async (context) => {
  const { page, complaints } = await openOn(context, '', { viewport: PHONE })
  await tabTo(page, 'API')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs')
  await tabTo(page, 'key')
  await page.keyboard.type(given.site.key)
  await tabTo(page, 'Try it: the ranking')
  await page.keyboard.press('Enter')
  const result = page.getByRole('form', { name: 'First answer' }).getByRole('status')
  await expect.poll(() => result.textContent()).toContain('200 OK')
  const { data, total_count } = JSON.parse((await result.locator('pre').textContent()) ?? '')
  expect(data).toHaveLength(10)
  expect(total_count).toBeGreaterThan(10)
  expect(complaints).toEqual([])
  // The key is in its field alone.
  expect(page.url()).not.toContain(given.site.key)
  expect(await page.content()).not.toContain(given.site.key)
  expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).toBe(
    '[{},{},""]',
  )
  await expectNoSidewaysScroll(page)
  expect(await smallTargets(page)).toEqual([])
})

test('forms send what was written, and errors say what to do', async (context) => {
  const { page } = await openOn(context, 'docs', { viewport: DESKTOP })
  const key = page.getByLabel('Paste it')
  const tried = async (name: string) => {
    const form = page.getByRole('form', { name, exact: true })
    await form.getByRole('button').click()
    const result = form.getByRole('status')
    await expect.poll(() => result.textContent()).toMatch(/^(\d{3} |Paste)/)
    return (await result.textContent()) ?? ''
  }
  expect(await tried('Get the current API key')).toBe('Paste a key first, at step 2.')
  await key.fill('sk-tb-v1-wrong')
  expect(await tried('Get the current API key')).toContain('Invalid API keyThe server does not know this key')
  await key.fill(given.site.key)
  expect(await tried('Create a preset from a message-style request')).toContain('"slug": "support-agent"')
  const ranking = page.getByRole('form', { name: 'Daily token totals of the top 50 models' })
  await ranking.getByLabel('period', { exact: true }).selectOption('month')
  await ranking.getByLabel('model', { exact: true }).fill('other\nacme/a b&c')
  await ranking.getByLabel('top', { exact: true }).fill('99')
  const answer = await tried('Daily token totals of the top 50 models')
  expect(answer).toContain('?period=month&top=99&model=other&model=acme%2Fa+b%26c')
  expect(answer).toContain('top must be an integer from 1 to 50')
  const code = await page.locator('#getCurrentKey .samples code').first().textContent()
  expect(code).toContain(`curl -sS "${given.site.hosts.server}api/v1/key"`)
})

test.for([
  ['curl', 'bash', '-c'],
  ['Python', 'python3', '-c'],
  ['JavaScript', process.execPath, '--input-type=module', '-e'],
] as const)('code in %s runs as it stands', async ([language, program, ...words], context) => {
  const { page } = await openOn(context, 'docs', { viewport: DESKTOP })
  for (const id of ['getRankingsDailyInfo', 'createPresetsMessages']) {
    const code = await page.getByLabel(`${language}: ${id}`, { exact: true }).textContent()
    const env = environment({ TOKENBOARD_KEY: given.site.key })
    const { code: exit, stdout, stderr } = await run(program, [...words, code ?? ''], { env, cwd: tmpdir() })
    expect([exit, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^(200 )?\{\s*['"]?data['"]?: ?\{/)
  }
})

test.for([
  { viewport: PHONE, colorScheme: 'light' as const },
  { viewport: DESKTOP, colorScheme: 'dark' as const },
  { viewport: PHONE, forcedColors: 'active' as const },
])('the page is accessible: %j', async (look, context) => {
  const { page, complaints } = await openOn(context, 'docs', look)
  await page.waitForLoadState('networkidle')
  await page.evaluate('for (const each of document.querySelectorAll("details:not([name])")) each.open = true')
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  expect(complaints).toEqual([])
})

test('without scripts everything can be read', async (context) => {
  const { page } = await openOn(context, 'docs', { viewport: PHONE, javaScriptEnabled: false })
  expect(await page.locator('input, select, textarea, button').locator('visible=true').count()).toBe(0)
  expect(await page.getByText('curl -sS "http://127.0.0.1:8080/api/v1/key"').isVisible()).toBe(true)
})
