/** How pages look on a screen, light or dark, from a host. */
import type { Browser } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, openPage } from './chromium.ts'
import type { SampleSite } from './sample-site.ts'

export interface Look {
  name: string
  viewport: { width: number; height: number }
  colorScheme: 'light' | 'dark'
  host: keyof SampleSite['hosts']
}

/** Opens each of the pages: it is accessible, fits the screen, and the browser complains of nothing. */
export async function expectGoodPages(browser: Browser, site: SampleSite, pages: string[], look: Look): Promise<void> {
  const { viewport, colorScheme, host } = look
  const top = site.hosts[host]
  const { page, complaints } = await openPage(browser, new URL(top).origin, { viewport, colorScheme })
  for (const path of pages) {
    await page.goto(top + path)
    await page.waitForLoadState('networkidle')
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    expect(complaints, path).toEqual([])
  }
}
