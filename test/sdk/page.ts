/** A page of another origin with a program that uses the SDK. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

/**
 * Gives what the function `run` of a program's `window` returns for these words. Packages are those of a folder's
 * `node_modules`. Fails with what the browser complains about.
 */
export async function runInPage(
  browser: Browser,
  { program, folder }: { program: string; folder: string },
  words: readonly string[],
): Promise<unknown> {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(await pageWith(program, folder))
  return await page
    .evaluate(`run(...${JSON.stringify(words)})`)
    .catch((error: unknown) => expect.fail(`${error}\n${complaints.join('\n')}`))
}

/** The address of a page that holds the program, on a port of its own. */
async function pageWith(program: string, folder: string): Promise<string> {
  const bundle = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  })
  const script = bundle.outputFiles[0]?.text ?? ''
  const origin = createServer(({ url }, response) => {
    const isScript = url === '/sdk.js'
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8')
    response.end(isScript ? script : '<!doctype html><script src="/sdk.js"></script>')
  })
  onTestFinished(() => {
    origin.close()
  })
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  return `http://127.0.0.1:${(origin.address() as AddressInfo).port}/`
}
