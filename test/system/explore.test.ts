/** The explorer in Chromium: what a person does with it, and what they take away from it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { browserOf, expectAccessible, expectNoSidewaysScroll, openPage, PHONE, type Watched } from './chromium.ts'
import { siteInChromium } from './sample-site.ts'

const given = siteInChromium()

/** What the server adds is its policy of what pages may load. */
type Host = 'server' | 'subPath'

async function explorer(context: TestContext, host: Host, query = '', options = {}): Promise<Watched> {
  const browser = browserOf(given.chromium, context)
  const top = given.site.hosts[host]
  const watched = await openPage(browser, new URL(top).origin, options)
  await watched.page.goto(`${top}explore.html${query}`)
  await loaded(watched.page)
  return watched
}

function loaded(page: Page): Promise<unknown> {
  return page.waitForSelector('#all-controls:enabled', { state: 'attached' })
}

interface Input {
  name: string
  type: string
  value: string
  checked: boolean
}

/** All that a view shows, to compare two of them. */
async function seen(page: Page) {
  return {
    chart: await page.locator('#chart svg').innerHTML(),
    title: await page.locator('#chart-title').innerText(),
    values: await page.locator('#values').innerText(),
    rows: await page.locator('#rows').innerText(),
    count: await page.locator('#rows-count').innerText(),
    controls: await page
      .locator('#controls input')
      .evaluateAll((inputs) =>
        (inputs as unknown as Input[]).map(({ name, type, value, checked }) => [
          name,
          type === 'radio' || type === 'checkbox' ? checked : value,
        ]),
      ),
  }
}

/** Presses a segmented button: the radio lies, unseen, over its text. */
async function choose(page: Page, name: string, value: string): Promise<void> {
  await page.locator(`input[name="${name}"][value="${value}"]`).check()
}

/** Chooses weeks or months, and waits for their table. */
async function chooseTable(page: Page, grain: 'week' | 'month'): Promise<void> {
  await choose(page, 'by', grain)
  await page.locator('#chart-title', { hasText: `per ${grain}` }).waitFor()
}

async function download(page: Page, button: string): Promise<{ name: string; bytes: Buffer }> {
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return { name: saved.suggestedFilename(), bytes: await readFile(await saved.path()) }
}

/** What the API answers for a window, as CSV. */
async function apiCsv(from: string, to: string): Promise<string> {
  const url = `${given.site.hosts.server}api/v1/datasets/rankings-daily?start_date=${from}&end_date=${to}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${given.site.key}`, accept: 'text/csv' } })
  expect(answer.status).toBe(200)
  return answer.text()
}

test('the explorer shows the last ninety days, and then what a person selects', async (context) => {
  const { page, complaints } = await explorer(context, 'server')
  expect(await page.locator('#chart-title').innerText()).toBe('Tokens per day, 2026-08-22 to 2026-11-16')
  expect(await page.locator('#values tbody tr').count()).toBe(8 + 2 + 1)

  await choose(page, 'days', '30')
  expect(await page.locator('#chart-title').innerText()).toBe('Tokens per day, 2026-10-18 to 2026-11-16')
  await chooseTable(page, 'week')
  await choose(page, 'show', 'share')
  await choose(page, 'as', 'lines')
  expect(await page.locator('#chart-title').innerText()).toBe('Share of all tokens per week, 2026-10-12 to 2026-11-16')
  const notes = await page.locator('#chart-notes').innerText()
  expect(notes).toContain('Whole weeks are shown: the window was 2026-10-18 to 2026-11-16.')
  expect(notes).toContain('not whole: 2026-11-16 (1 of 7 days)')
  await page.click('#models summary')
  // Not their innerText: what the browser has not drawn yet has none.
  const names = await page.locator('#models-list label').allTextContents()
  expect(names.length).toBeGreaterThan(50)
  const [first = '', , third = ''] = names
  await page.fill('#models-search', third)
  await page.getByLabel(third, { exact: true }).check()
  await page.fill('#models-search', '')
  await page.getByLabel(first, { exact: true }).check()
  expect(await page.locator('input[name="rest"]').isChecked()).toBe(false)
  expect(await page.locator('#values tbody th').allInnerTexts()).toEqual(
    expect.arrayContaining([first, third, 'all public tokens']),
  )
  expect(new URL(page.url()).searchParams.getAll('models')).toEqual([third, first])
  expect(complaints).toEqual([])
})

test('the explorer keeps its view in the URL, across a reload and Back', async (context) => {
  const { page, complaints } = await explorer(context, 'subPath')
  const before = await seen(page)
  await chooseTable(page, 'month')
  await page.locator('input[name="from"]').fill('2026-09-10')
  await choose(page, 'as', 'lines')
  await page.click('#rows th[data-column="tokens"] button')
  await page.fill('#search', 'a')
  await page.waitForURL(/q=a/)
  const after = await seen(page)
  expect(after).not.toEqual(before)
  expect(new URL(page.url()).search).toBe('?from=2026-09-10&to=2026-11-16&by=month&as=lines&sort=-tokens&q=a')
  await page.reload()
  await loaded(page)
  expect(await seen(page)).toEqual(after)
  for (let step = 0; step < 4; step++) await page.goBack()
  expect(new URL(page.url()).search).toBe('')
  await loaded(page)
  expect(await seen(page)).toEqual(before)
  expect(complaints).toEqual([])
})

test('the explorer downloads exactly the rows of the API', async (context) => {
  const { page, complaints } = await explorer(context, 'server')
  const whole = await download(page, '#download-csv')
  expect(whole.bytes.toString()).toBe(await apiCsv('2026-08-22', '2026-11-16'))
  expect(whole.name).toBe('rankings-daily-20261120T120000Z-2026-08-22-2026-11-16-day-tokens.csv')
  await page.locator('input[name="from"]').fill('2026-10-05')
  await page.locator('input[name="to"]').fill('2026-10-11')
  const week = await download(page, '#download-csv')
  expect(week.bytes.toString()).toBe(await apiCsv('2026-10-05', '2026-10-11'))
  await choose(page, 'days', 'all')
  for (const [grain, table] of [
    ['week', 'weekly'],
    ['month', 'monthly'],
  ] as const) {
    await chooseTable(page, grain)
    const { bytes } = await download(page, '#download-csv')
    const published = await fetch(`${given.site.hosts.server}datasets/rankings-daily/v1/latest/rankings-${table}.csv`)
    expect(bytes.toString()).toBe(await published.text())
  }
  expect(complaints).toEqual([])
})

test('the explorer shows days when weeks cannot be read, and reads them when they are chosen again', async (context) => {
  const { page } = await openPage(browserOf(given.chromium, context), new URL(given.site.hosts.subPath).origin)
  await page.route('**/rankings-weekly.parquet', (route) => route.fulfill({ status: 500, body: '{}' }))
  await page.goto(`${given.site.hosts.subPath}explore.html?by=week`)
  await loaded(page)
  expect(await page.locator('#notices').innerText()).toContain('The weeks could not be read')
  expect(await page.locator('#chart-title').innerText()).toContain('per day')
  await page.unroute('**/rankings-weekly.parquet')
  await chooseTable(page, 'week')
  expect(await page.locator('#notices').innerText()).toBe('')
})

test('the explorer saves its chart as SVG and PNG, with title and attribution', async (context) => {
  const { page, complaints } = await explorer(context, 'subPath', '', { colorScheme: 'dark' })
  const svg = (await download(page, '#download-svg')).bytes.toString()
  expect(svg).toContain('Tokens per day, 2026-08-22 to 2026-11-16')
  expect(svg).toContain('release=20261120T120000Z')
  expect(svg).toContain('Synthetic sample data, not real usage.')
  expect(svg).toMatch(/fill="rgb\(/)
  expect(svg).not.toMatch(/currentColor|class=|var\(/)
  const { bytes: png } = await download(page, '#download-png')
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  const [, width, height] = /<svg [^>]*width="(\d+)" height="(\d+)"/.exec(svg) ?? []
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2 * Number(width), 2 * Number(height)])
  // A picture without a drawing would be a few hundred bytes.
  expect(png.length).toBeGreaterThan(20_000)
  expect(complaints).toEqual([])
})

test('the values beside the chart follow pointer and keys', async (context) => {
  const { page } = await explorer(context, 'subPath')
  const caption = page.locator('#values-caption')
  expect(await caption.innerText()).toBe('2026-11-16')
  await page.focus('#cursor')
  await page.keyboard.press('ArrowLeft')
  expect(await caption.innerText()).toBe('2026-11-15')
  expect(await page.locator('#cursor').getAttribute('aria-valuetext')).toBe('2026-11-15')
  await page.keyboard.press('Home')
  expect(await caption.innerText()).toBe('2026-08-22')
  const box = await page.locator('#chart').boundingBox()
  await page.mouse.move((box?.x ?? 0) + 300, (box?.y ?? 0) + 100)
  expect(await caption.innerText()).toMatch(/^2026-(09|10)/)
})

test('the legend sorts by the shown period, highlights a series and hides it', async (context) => {
  const { page, complaints } = await explorer(context, 'subPath', '?of=author&rest=0')
  const buttons = page.locator('#values button')
  const tokens = (await page.locator('#values tbody tr:not(:last-child) td:nth-child(2)').allInnerTexts()).map((text) =>
    Number(text.replaceAll(',', '')),
  )
  expect(tokens).toEqual(tokens.toSorted((a, b) => b - a))
  const first = (await buttons.first().innerText()).trim()
  const drawn = (name: string) => page.locator(`#chart path[data-name="${name}"]`)
  const second = (await buttons.nth(1).innerText()).trim()
  await buttons.first().focus()
  expect(await drawn(first).getAttribute('class')).not.toBe('dim')
  expect(await drawn(second).getAttribute('class')).toBe('dim')
  const fill = await drawn(second).getAttribute('fill')
  await page.keyboard.press('Enter')
  expect(await drawn(first).count()).toBe(0)
  expect(await drawn(second).getAttribute('fill')).toBe(fill)
  expect(new URL(page.url()).searchParams.getAll('hide')).toEqual([first])
  await page.keyboard.press('Enter')
  expect(await drawn(first).count()).toBe(1)
  expect(complaints).toEqual([])
})

test('a drag across the chart zooms in, a double-click shows all dates, and Back undoes both', async (context) => {
  const { page } = await explorer(context, 'subPath')
  const title = page.locator('#chart-title')
  const whole = await title.innerText()
  const box = (await page.locator('#chart').boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.move(box.x + 150, box.y + 100)
  expect(await page.locator('.tooltip').isVisible()).toBe(true)
  await page.mouse.down()
  await page.mouse.move(box.x + 300, box.y + 120)
  await page.mouse.up()
  const zoomed = await title.innerText()
  expect(zoomed).not.toBe(whole)
  expect(new URL(page.url()).searchParams.get('from')).toMatch(/^2026-/)
  await page.locator('#chart').dblclick({ position: { x: 200, y: 100 } })
  await page.waitForURL(/days=all/)
  await page.goBack()
  expect(await title.innerText()).toBe(zoomed)
  await page.goBack()
  expect(await title.innerText()).toBe(whole)
})

test('chosen models keep their scale, and an index begins at 100', async (context) => {
  const { page } = await explorer(context, 'subPath', '?as=lines')
  await page.click('#models summary')
  const small = page.locator('#models-list input').nth(30)
  await small.check()
  expect(await page.locator('#values tbody tr').count()).toBe(2)
  await choose(page, 'show', 'index')
  expect(await page.locator('input[name="as"][value="stacked"]').isDisabled()).toBe(true)
  expect(await page.locator('#chart text').allTextContents()).toContain('Tokens per day, first value = 100')
  await page.locator('input[name="log"]').check()
  expect(await page.locator('#chart text').allTextContents()).toContain('Tokens per day, first value = 100, log scale')
})

test('the width of the screen chooses days, weeks or months, unless a person does', async (context) => {
  const title = async (width: number, query: string) => {
    const { page } = await explorer(context, 'subPath', query, { viewport: { width, height: 800 } })
    return page.locator('#chart-title').innerText()
  }
  expect(await title(1280, '?days=all')).toContain('per day')
  expect(await title(320, '?days=all')).toContain('per week')
  expect(await title(320, '?days=all&by=day')).toContain('per day')
})

test('a view can be cited: by a link that names its release and dates, as BibTeX, and in a frame', async (context) => {
  const { page, complaints } = await explorer(context, 'subPath', '?of=author&by=week&show=share')
  await page.click('#cite summary')
  await expect.poll(() => page.locator('#cite-bibtex').innerText()).toContain('@dataset{')
  const link = await page.locator('#cite-link').innerText()
  expect(link).toContain('release=20261120T120000Z')
  expect(link).toContain('from=2026-')
  expect(await page.locator('#cite-text').innerText()).toContain(link)
  const bibtex = await page.locator('#cite-bibtex').innerText()
  expect(bibtex).toContain('Share of all tokens by author per week')
  expect(bibtex).toMatch(/ howpublished = \{Chart: \\url\{.*explore\.html\?/)
  expect(bibtex).toMatch(/ url = \{.*\/releases\/20261120T120000Z\/\}/)
  const shapes = () =>
    page.locator('#chart path[data-name]').evaluateAll((all) => all.map((one) => one.getAttribute('d')))
  const before = await shapes()
  const frame = await page.locator('#cite-embed-small').innerText()
  await page.goto(link)
  await loaded(page)
  expect(await shapes()).toEqual(before)
  expect(complaints).toEqual([])
  const [, source = ''] = /src="([^"]+)"/.exec(frame) ?? []
  await page.goto(source.replaceAll('&amp;', '&'))
  await page.locator('#chart svg').waitFor()
  expect(await page.locator('#credit').innerText()).toContain('release 20261120T120000Z')
  expect(complaints).toEqual([])
})

test('the explorer says that a release is not there', async (context) => {
  const { page } = await openPage(browserOf(given.chromium, context), new URL(given.site.hosts.subPath).origin)
  await page.goto(`${given.site.hosts.subPath}explore.html?release=20250101T000000Z`)
  await expect.poll(() => page.locator('#status').innerText()).toContain('no longer published')
})

test('the table can be sorted, searched and paged', async (context) => {
  const { page } = await explorer(context, 'subPath')
  const tokens = async () =>
    (await page.locator('#rows tbody td:nth-child(3)').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')))
  expect(await page.locator('#rows tbody tr').count()).toBe(50)
  await page.click('#rows th[data-column="tokens"] button')
  const greatest = await tokens()
  expect(greatest).toEqual(greatest.toSorted((a, b) => b - a))
  expect(await page.locator('#rows th[data-column="tokens"]').getAttribute('aria-sort')).toBe('descending')
  await page.click('#rows th[data-column="tokens"] button')
  const least = await tokens()
  expect(least).toEqual(least.toSorted((a, b) => a - b))
  expect(least[0]).toBeLessThan(greatest[0] ?? 0)
  await page.click('#next-page')
  expect(await page.locator('#page-count').innerText()).toBe('Page 2 of 89')
  await page.fill('#search', 'other')
  expect(await page.locator('#rows-count').innerText()).toBe('1–50 of 87 rows')
  expect(new Set(await page.locator('#rows tbody td:nth-child(2)').allInnerTexts())).toEqual(new Set(['other']))
})

test('the explorer draws no more elements for 36,000 rows than for a few', async (context) => {
  const { page, complaints } = await explorer(context, 'subPath', '?days=all')
  const drawnOfFew = await drawn(page)
  await page.route('**/*.parquet', (route) => largeParquet().then((body) => route.fulfill({ body })))
  await page.reload()
  await loaded(page)
  const count = page.locator('#rows-count')
  expect(await count.innerText()).toBe('1–50 of 36,000 rows')
  await page.click('#rows th[data-column="tokens"] button')
  expect(await page.locator('#rows tbody td:nth-child(3)').first().innerText()).toBe('1,000,000,000,000')
  await page.fill('#search', 'model-0001')
  expect(await count.innerText()).toBe('1–14 of 14 rows')
  await page.fill('#search', '')
  expect(await count.innerText()).toBe('1–50 of 36,000 rows')
  // It is drawing that takes a browser long: how much of it there is may not grow with the rows.
  expect(await drawn(page)).toBeLessThanOrEqual(drawnOfFew)
  expect(complaints).toEqual([])
})

/** How many elements the chart, its values and the table have. */
function drawn(page: Page): Promise<number> {
  return page.locator('#chart *, #values *, #rows *').count()
}

/** A release of 720 days with 50 models each, as DuckDB writes it. */
async function largeParquet(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-large-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'large.parquet')
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run(
    `COPY (
       SELECT DATE '2025-01-01' + day::INTEGER AS date, 'author/model-' || lpad((day // 7 + model)::VARCHAR, 4, '0') AS model_permaslug,
              1000000000000 - 7919 * model - day AS total_tokens
       FROM range(720) days(day), range(50) models(model) ORDER BY day, model
     ) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`,
  )
  connection.closeSync()
  return readFile(path)
}

test('the explorer reports unknown values in its URL, and follows the rest', async (context) => {
  const { page, complaints } = await explorer(
    context,
    'subPath',
    '?by=year&as=lines&models=no%2Fsuch&models=%3Cimg%20src%3Dx%3E',
  )
  const notices = await page.locator('#notices').innerText()
  expect(notices).toContain('by=year is none of auto, day, week, month')
  expect(notices).toContain('no/such, <img src=x>')
  expect(await page.locator('input[name="as"][value="lines"]').isChecked()).toBe(true)
  expect(complaints).toEqual([])
})

test.for<[what: string, answer: { status: number; body: string }, text: RegExp]>([
  ['answered with 410', { status: 410, body: '{}' }, /no longer published/],
  ['answered with 404', { status: 404, body: '{}' }, /no longer published/],
  ['answered with 500', { status: 500, body: '{}' }, /could not be read/],
  ['no Parquet', { status: 200, body: 'not what it says' }, /could not be read/],
])('the explorer explains data that is %s', async ([, answer, text], context) => {
  const { page } = await openPage(browserOf(given.chromium, context), new URL(given.site.hosts.subPath).origin)
  await page.route('**/*.parquet', (route) => route.fulfill(answer))
  await page.goto(`${given.site.hosts.subPath}explore.html`)
  await expect.poll(() => page.locator('#status').innerText()).not.toMatch(/^Loading/)
  expect(await page.locator('#status').innerText()).toMatch(text)
  await expectAccessible(page)
})

test('the explorer reads the history when the files of its release were dropped', async (context) => {
  const { page: before } = await explorer(context, 'subPath', '?by=week')
  const { page } = await openPage(browserOf(given.chromium, context), new URL(given.site.hosts.subPath).origin)
  await page.route('**/rankings-*.parquet', (route) => route.fulfill({ status: 410, body: '{}' }))
  await page.goto(`${given.site.hosts.subPath}explore.html?by=week`)
  await loaded(page)
  expect(await seen(page)).toEqual(await seen(before))
})

test('without JavaScript the explorer links to the files and hides its form', async (context) => {
  const { page } = await openPage(browserOf(given.chromium, context), new URL(given.site.hosts.subPath).origin, {
    javaScriptEnabled: false,
  })
  await page.goto(`${given.site.hosts.subPath}explore.html`)
  expect(await page.locator('noscript').innerText()).toContain('needs JavaScript')
  expect(await page.locator('#controls').isVisible()).toBe(false)
})

test('on a phone the explorer fits the screen and is accessible', async (context) => {
  const { page, complaints } = await explorer(context, 'subPath', '?by=week&as=lines', {
    viewport: PHONE,
    hasTouch: true,
    isMobile: true,
  })
  await expectNoSidewaysScroll(page)
  await page.click('#models summary')
  expect(await page.locator('#models-list label').first().isVisible()).toBe(true)
  await expectAccessible(page)
  expect(complaints).toEqual([])
})
