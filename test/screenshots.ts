/** `make screenshots`: builds the sample in a folder of its own and takes the pictures of the README. */
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../pipeline/base/errors.ts'
import { REPOSITORY, runCli } from './support/pipeline.ts'
import { startHost } from './support/static-host.ts'
import { startChromium } from './system/chromium.ts'

const AS_OF = '2026-11-20T06:00:00Z'
const FOLDER = join(REPOSITORY, 'docs/images')
const MOST_BYTES = 200_000
const WIDTH = 1280
const PICTURES = [
  { page: 'index.html', file: 'landing.png', ready: 'main', height: 900 },
  { page: 'explore.html?by=week&show=share', file: 'explorer.png', ready: '#all-controls:enabled', height: 880 },
]

const chromium = await startChromium()
if ('reason' in chromium) throw new CliError(chromium.reason)
const root = await mkdtemp(join(tmpdir(), 'tokenboard-screenshots-'))
const publicDir = join(root, 'public')
const built = await runCli(['build'], { AS_OF, DATA_DIR: join(root, 'data'), PUBLIC_DIR: publicDir }, root)
if (built.code !== 0) throw new Error(built.stderr)
const host = await startHost(publicDir)
await mkdir(FOLDER, { recursive: true })
const page = await chromium.browser.newPage({ colorScheme: 'light', locale: 'en-US' })
for (const { page: path, file, ready, height } of PICTURES) {
  await page.setViewportSize({ width: WIDTH, height })
  await page.goto(host.url + path)
  await page.waitForSelector(ready)
  const target = join(FOLDER, file)
  await page.screenshot({ path: target })
  const { size } = await stat(target)
  if (size > MOST_BYTES) throw new Error(`${target} has ${size} bytes, more than ${MOST_BYTES}`)
  process.stderr.write(`${target}: ${size} bytes\n`)
}
await chromium.browser.close()
await host.stop()
await rm(root, { recursive: true, force: true })
