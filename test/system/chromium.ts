/** Debian's Chromium, driven as a person would; where there is none, the reason to skip. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { skipLoudly } from './hosting.ts'

const PROGRAM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** A running browser, or why there is none. */
export type Chromium = { browser: Browser } | { reason: string }

export async function startChromium(): Promise<Chromium> {
  if (PROGRAM === undefined) return { reason: 'no Chromium: install the package chromium' }
  // Its sandbox refuses to run as root, and tests open nothing but pages of their own.
  const chromiumSandbox = process.getuid?.() !== 0
  return { browser: await chromium.launch({ executablePath: PROGRAM, chromiumSandbox }) }
}

export async function stopChromium(chromium: Chromium | undefined): Promise<void> {
  if (chromium !== undefined && 'browser' in chromium) await chromium.browser.close()
}

/** The browser of a test; without one the test is skipped, loudly. */
export function browserOf(chromium: Chromium, { skip }: TestContext): Browser {
  if ('browser' in chromium) return chromium.browser
  return skipLoudly(skip, chromium.reason)
}

export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** A page that a test looks at, with everything that went wrong on it so far. */
export interface Watched {
  page: Page
  /** Errors of the console, of scripts, of the policy, failed requests, requests to another origin. */
  complaints: string[]
}

/** A new page, closed when the test is over. `origin` is the one that it may ask for files. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  // A browser asks for this file by itself, at the top of the host, which may be no part of the site.
  const isOurs = (url: string) => url !== `${origin}/favicon.ico`
  page.on('console', (message) => {
    if (message.type() === 'error' && isOurs(message.location().url)) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on('request', (request) => {
    const { origin: asked, protocol } = new URL(request.url())
    if (asked !== origin && protocol !== 'blob:') complaints.push(`asks another origin for ${request.url()}`)
  })
  await page.addInitScript(
    'addEventListener("securitypolicyviolation", (event) => console.error("policy:", event.violatedDirective, event.blockedURI))',
  )
  return { page, complaints }
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Proves that axe-core finds no violation of the rules for accessible pages, best practices included. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe)
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    const { violations } = await axe.run()
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`)
  })
  expect(violations, page.url()).toEqual([])
}

/** Links and buttons that are smaller than 24 pixels and too close to others (WCAG 2.2, 2.5.8). */
export async function smallTargets(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate<string[]>(
    `axe.run({ runOnly: { type: 'rule', values: ['target-size'] } }).then(({ violations }) =>
      violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))`,
  )
}

interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string }[] }[]
}

/** Proves that nothing on the page is wider than the screen, but what scrolls in a place of its own. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [wanted = 0, there = 0] = await page.evaluate<number[]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  expect(wanted, page.url()).toBeLessThanOrEqual(there)
}
