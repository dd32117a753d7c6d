/** The page of the API on a server: what it shows can be read by everyone, and its code runs. */
import { tmpdir } from 'node:os'
import { expect, type TestContext, test } from 'vitest'
import { browserOf, expectAccessible, expectNoSidewaysScroll, openPage, smallTargets } from './chromium.ts'
import { environment, run } from './clone.ts'
import { siteInChromium } from './sample-site.ts'

const PHONE = { width: 375, height: 812 }
const DESKTOP = { width: 1440, height: 1000 }

const given = siteInChromium()

async function openDocs(context: TestContext, options: Parameters<typeof openPage>[2]) {
  const top = given.site.hosts.server
  const watched = await openPage(browserOf(given.chromium, context), new URL(top).origin, options)
  await watched.page.goto(top)
  await watched.page.locator('main a[href="docs/index.html"]').first().click()
  await watched.page.waitForURL('**/docs')
  return watched
}

test('its requests run in a shell as they stand', async (context) => {
  const { page } = await openDocs(context, { viewport: DESKTOP })
  for (const summary of ['What the ranking dataset is', 'Create a preset from a message-style request']) {
    const code = (await page.getByLabel(`Request: ${summary}`, { exact: true }).textContent()) ?? ''
    const env = environment({ TOKENBOARD_URL: given.site.hosts.server.slice(0, -1), TOKENBOARD_KEY: given.site.key })
    const { code: exit, stdout, stderr } = await run('bash', ['-c', code], { env, cwd: tmpdir() })
    expect([exit, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toHaveProperty('data')
  }
})

test.for([
  { viewport: PHONE, colorScheme: 'light' as const },
  { viewport: DESKTOP, colorScheme: 'dark' as const },
  { viewport: PHONE, forcedColors: 'active' as const },
])('it is accessible: %j', async (look, context) => {
  const { page, complaints } = await openDocs(context, look)
  await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  expect(await smallTargets(page)).toEqual([])
  expect(complaints).toEqual([])
})
