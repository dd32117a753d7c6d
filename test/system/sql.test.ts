/** The SQL console in Chromium: answers are exact, nothing leaves the origin, and it works on every kind of host. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { startHost } from '../support/static-host.ts'
import { browserOf, expectAccessible, expectNoSidewaysScroll, openPage, type Watched } from './chromium.ts'
import { HOST_KINDS, skipLoudly } from './hosting.ts'
import { siteInChromium } from './sample-site.ts'

const given = siteInChromium()
const SLOWEST_MS = 600_000
const LATEST = 'datasets/rankings-daily/v1/latest'

/** Opens the console and, if there is a question, waits for its answer. */
async function openConsole(context: TestContext, top: string, hash = '', options = {}): Promise<Watched> {
  const watched = await openPage(browserOf(given.chromium, context), new URL(top).origin, options)
  // DuckDB takes long to start on a busy machine.
  watched.page.setDefaultTimeout(SLOWEST_MS)
  await watched.page.goto(`${top}sql.html${hash}`)
  if (hash !== '') await answered(watched.page)
  return watched
}

const asking = (question: string) => `#${new URLSearchParams({ q: question })}`

/** Waits until a question has an answer or failed. */
async function answered(page: Page): Promise<void> {
  await page.locator('#run:disabled').or(page.locator('#status:has-text("Done"), #fault > *')).first().waitFor()
  await page.locator('#run:enabled').waitFor()
}

async function ask(page: Page, question: string): Promise<string[][]> {
  await page.fill('#question', question)
  await page.press('#question', 'Control+Enter')
  await answered(page)
  return rowsOf(page)
}

async function rowsOf(page: Page): Promise<string[][]> {
  expect(await page.locator('#fault').innerText()).toBe('')
  return page
    .locator('#rows tbody tr')
    .evaluateAll((rows) =>
      (rows as unknown as { cells: { textContent: string }[] }[]).map(({ cells }) =>
        [...cells].map(({ textContent }) => textContent),
      ),
    )
}

function publishedCsv(table: string): Promise<string> {
  return readFile(join(given.site.publicDir, LATEST, `rankings-${table}.csv`), 'utf8')
}

test('one question after the other has exact answers: as a table, a chart, CSV and a link', async (context) => {
  const { page, complaints } = await openConsole(context, given.site.hosts.server)
  await page.click('#run')
  await answered(page)
  const sums = new Map<string, bigint>()
  const daily = await publishedCsv('daily')
  for (const line of daily.trimEnd().split('\n').slice(1)) {
    const [date = '', , tokens = ''] = line.split(',')
    sums.set(date, (sums.get(date) ?? 0n) + BigInt(tokens))
  }
  expect(await rowsOf(page)).toEqual([...sums].map(([date, tokens]) => [date, String(tokens)]))
  expect(await page.locator('#chart svg').getAttribute('aria-labelledby')).toBe('chart-name chart-description')
  expect(await page.locator('#chart-name').textContent()).toBe('tokens by date')
  const total = [...sums.values()].reduce((sum, tokens) => sum + tokens, 0n)
  const exact = await ask(page, `SELECT sum(total_tokens) * 1000000007 AS n, NULL AS nothing, '' AS e FROM daily`)
  expect(exact).toEqual([[String(total * 1_000_000_007n), 'NULL', '']])
  expect(await page.locator('#answer-figure').isVisible()).toBe(false)
  expect(await ask(page, "COPY daily TO 'answer.csv'; SELECT 2")).toEqual([['2']])
  const rows = await ask(page, 'CREATE OR REPLACE VIEW months AS FROM monthly; FROM months -- all; of them')
  expect(rows.map((row) => row.join(','))).toEqual((await publishedCsv('monthly')).trimEnd().split('\n').slice(1))
  await ask(page, 'FROM daily')
  expect(await page.locator('#count').innerText()).toMatch(/^The first 1,000 of \d,\d{3} rows/)
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('#download-csv')])
  expect(await readFile(await saved.path(), 'utf8')).toBe(daily)
  await page.goBack()
  await expect.poll(() => page.locator('#question').inputValue()).toContain('VIEW months')
  await page.locator('#status', { hasText: 'Done' }).waitFor()
  await page.click('#share summary')
  expect(await page.locator('#share-link').innerText()).toContain('release=20261120T120000Z')
  expect(complaints).toEqual([])
})

test('all questions that the page offers have an answer, which fits a phone, also in forced colors', async (context) => {
  const { page, complaints } = await openConsole(context, given.site.hosts.subPath, '', {
    viewport: { width: 375, height: 812 },
    forcedColors: 'active',
    colorScheme: 'dark',
  })
  const links = page.locator('#offered a')
  expect(await links.count()).toBe(13)
  for (const link of await links.all()) {
    await link.click()
    await answered(page)
    expect(await page.locator('#fault').innerText()).toBe('')
    expect(await page.locator('#rows thead th').count()).toBeGreaterThan(1)
    await expectNoSidewaysScroll(page)
  }
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('errors name the place in the question, and no question reaches files, hosts or settings', async (context) => {
  const { page, complaints } = await openConsole(context, given.site.hosts.server, asking('SELECT *\nFROM dayly'))
  expect(await page.locator('#fault').innerText()).toMatch(/^Catalog Error: .*dayly.*\n.*\n\nLINE 2: FROM dayly\n +\^/)
  await expectAccessible(page)
  for (const question of [
    "FROM read_csv('https://other.example/x.csv')",
    "FROM read_csv('index.html')",
    "COPY daily TO 'https://other.example/x.csv'",
    "ATTACH 'x.db'",
    'LOAD httpfs',
    'SET enable_external_access = true',
  ]) {
    await page.fill('#question', question)
    await page.click('#run')
    await answered(page)
    expect(await page.locator('#fault').innerText(), question).toMatch(/Permission Error|configuration has been locked/)
  }
  expect(complaints).toEqual([])
})

test('a question can be stopped, and the next one has an answer', async (context) => {
  const { page } = await openConsole(context, given.site.hosts.server)
  await page.fill('#question', 'SELECT count(*) FROM range(1000000000000)')
  await page.click('#run')
  await page.locator('#status', { hasText: 'Working' }).waitFor()
  await page.click('#stop')
  await page.locator('#status', { hasText: 'Stopped' }).waitFor()
  expect(await ask(page, 'SELECT 41 + 1')).toEqual([['42']])
})

test('a link that names a release asks that one, from the history if its files were dropped', async (context) => {
  const question = 'SELECT count(*) FROM daily'
  const top = given.site.hosts.subPath
  const { page: before } = await openConsole(context, top, asking(question))
  const { page } = await openConsole(context, top)
  await page.route('**/rankings-*.csv.gz', (route) => route.fulfill({ status: 410, body: '{}' }))
  // Another release is another document.
  await page.goto('about:blank')
  await page.goto(`${top}sql.html${asking(question)}&release=20261120T120000Z`)
  await answered(page)
  expect(await rowsOf(page)).toEqual(await rowsOf(before))
  expect(await page.locator('#pinned').innerText()).toContain('20261120T120000Z')
  await page.goto(`${top}sql.html${asking(question)}&release=20250101T000000Z`)
  await expect.poll(() => page.locator('#fault').innerText()).toContain('This release is not published')
  await page.goto(`${top}sql.html#release=yesterday`)
  await expect.poll(() => page.locator('#status').innerText()).toContain('"yesterday" is not the name of a release')
})

test('a host whose policy forbids WebAssembly is named as the reason', async (context) => {
  const names = await readdir(join(given.site.publicDir, 'assets'))
  const worker = `assets/${names.find((name) => /^duckdb-\w+\.js$/.test(name))}`
  const host = await startHost(given.site.publicDir, {
    answers: {
      [worker]: (response, bytes) =>
        response
          .writeHead(200, { 'content-type': 'text/javascript', 'content-security-policy': "default-src 'self'" })
          .end(bytes),
    },
  })
  onTestFinished(() => host.stop())
  const { page } = await openConsole(context, host.url, asking('SELECT 1'))
  expect(await page.locator('#fault').innerText()).toContain('Content-Security-Policy that the host sends')
})

test.for(HOST_KINDS)('$name as docs/hosting.md sets it up can carry it', async ({ name, isHere, start }, context) => {
  browserOf(given.chromium, context)
  if (!isHere) return skipLoudly(context.skip, `no ${name}`)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-sql-'))
  const host = await start(given.site.publicDir, folder)
  onTestFinished(async () => {
    await host.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const { page, complaints } = await openConsole(context, `${host.url}/`, asking('SELECT count(*) > 100 FROM daily'))
  expect(await rowsOf(page)).toEqual([['true']])
  expect(complaints).toEqual([])
})
