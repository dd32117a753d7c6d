import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startHost } from '../support/static-host.ts'
import { startChromium, stopChromium } from '../system/chromium.ts'
import { fullBuild } from './build.ts'
import type { Measured, Suite } from './measure.ts'
import { DAYS, scaled } from './records.ts'

type Step = (page: Page) => Promise<unknown>

const choose =
  (name: string, value: string): Step =>
  (page) =>
    page.locator(`input[name="${name}"][value="${value}"]`).click({ force: true })

/** What a person does, one after the other, on all days of the dataset. */
const STEPS: readonly Step[] = [
  choose('of', 'author'),
  choose('as', 'lines'),
  choose('show', 'share'),
  choose('of', 'model'),
  choose('as', 'stacked'),
  (page) => page.click('#rows th[data-column="tokens"] button'),
  (page) => page.click('#next-page'),
  (page) => page.locator('#search').press('m'),
  (page) => page.locator('#values button').first().click(),
  (page) => page.locator('#cursor').press('ArrowLeft'),
]

/** How long the explorer takes to show what a person did, by the browser's own entries (INP), on 35,700 rows. */
export async function explorer(folder: string): Promise<Suite> {
  const chromium = await startChromium()
  if ('reason' in chromium) return { skipped: [`the explorer: ${chromium.reason}`] }
  const built = fullBuild(scaled(DAYS), folder)
  const host = await startHost(join(folder, 'public'))
  const ours = async (): Promise<Measured> => {
    await built
    const page = await chromium.browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${host.url}explore.html?days=all&by=day`)
    await page.waitForSelector('#all-controls:enabled', { state: 'attached' })
    await page.evaluate(OBSERVE)
    for (const step of STEPS) {
      await step(page)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))')
    }
    const slowest = await page.evaluate<number>('globalThis.slowest')
    await page.close()
    return { value: slowest }
  }
  const name = `the slowest of ${STEPS.length} interactions with the explorer on ${scaled(DAYS).days} days`
  return {
    comparisons: [{ name, unit: 'ms', higherIsBetter: false, barOf: 'value', ours, required: 200 }],
    async close() {
      await host.stop()
      await stopChromium(chromium)
    },
  }
}

/** From the event to the next frame. Shorter ones than 16 ms have no entry. */
const OBSERVE = `
globalThis.slowest = 0
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.slowest = Math.max(globalThis.slowest, duration)
}).observe({ type: 'event', durationThreshold: 16 })
`
