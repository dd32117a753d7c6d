/** Debian's Chromium, driven by playwright-core, which brings no browser of its own. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'

export const hasBrowser = existsSync(CHROMIUM)

/** Starts it without a window. Root may not have its sandbox. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 })
}
