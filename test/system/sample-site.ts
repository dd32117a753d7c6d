/** The site of the synthetic sample, built once for all files of a run, on the server and on the plainest host there is. */
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, inject } from 'vitest'
import { type ServerProcess, startNode } from '../support/server-process.ts'
import { startHost } from '../support/static-host.ts'
import { type Chromium, startChromium, stopChromium } from './chromium.ts'
import { AS_OF, environment, run } from './clone.ts'

const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
const DATASET = 'datasets/rankings-daily/v1'

/** Builds in the folder $1, unless that is done. Of several files that want it at once one builds, and the others wait. */
const BUILD = '[ -e "$1/complete" ] || { mkdir -p "$1" && cd "$1" && "$2" "$3" build && touch complete; }'

/** The published sample of this run: to be read or copied, not changed. */
async function publishedSample(): Promise<string> {
  const folder = join(inject('runFolder'), 'sample')
  const words = [`${folder}.lock`, 'sh', '-c', BUILD, 'sh', folder, process.execPath, CLI]
  const { code, stderr } = await run('flock', words, { cwd: tmpdir(), env: environment({ AS_OF }) })
  if (code !== 0) throw new Error(`the sample was not built: ${stderr}`)
  return join(folder, 'public')
}

export interface SampleServer extends ServerProcess {
  /** Where it runs, with `public` and `data` in it. */
  folder: string
  /** A key for the API of the server. */
  key: string
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

/** Serves a copy of the sample in a new folder. */
export async function serveSample(settings: Record<string, string> = {}): Promise<SampleServer> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-site-'))
  await cp(await publishedSample(), join(folder, 'public'), { recursive: true, verbatimSymlinks: true })
  const env = environment({ AS_OF, PORT: '0', LOG_LEVEL: 'warn', ...settings })
  const server = await startNode([CLI, 'serve'], env, { cwd: folder, lines: 3 })
  return {
    ...server,
    folder,
    key: server.lines[1]?.replace('key ', '') ?? '',
    async stop() {
      server.signal('SIGTERM')
      await server.ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface SampleSite {
  publicDir: string
  /** Where the top of the site is, with a slash at its end: on the server, and below a sub-path of a plain host. */
  hosts: { server: string; subPath: string }
  key: string
  stop(): Promise<void>
}

/** Serves the sample twice. */
async function serveSampleSite(): Promise<SampleSite> {
  const server = await serveSample()
  const publicDir = join(server.folder, 'public')
  const plain = await startHost(publicDir, { below: '/some/place/' })
  return {
    publicDir,
    hosts: { server: `${server.url}/`, subPath: plain.url },
    key: server.key,
    async stop() {
      await plain.stop()
      await server.stop()
    },
  }
}

/** The site and a Chromium for all tests of a file. They are there when its tests run. */
export function siteInChromium(): { site: SampleSite; chromium: Chromium } {
  const given = {} as { site: SampleSite; chromium: Chromium }
  beforeAll(async () => {
    given.site = await serveSampleSite()
    given.chromium = await startChromium()
  })
  afterAll(async () => {
    await stopChromium(given.chromium)
    await given.site?.stop()
  })
  return given
}

/** The pages of a built site: one of each kind that it has. */
export async function pagesOf(publicDir: string): Promise<string[]> {
  const top = ['index.html', 'explore.html', 'models.html', 'coverage.html', 'changelog.html', 'docs/index.html']
  const folders = ['leaderboards', 'models', 'authors', 'coverage', 'changelog'].map(async (folder) => {
    return (await filesBelow(join(publicDir, folder))).map((path) => `${folder}/${path}`).slice(0, 1)
  })
  const inFolders = (await Promise.all(folders)).flat()
  const releases = await readdir(join(publicDir, DATASET, 'releases'))
  const release = releases.map((name) => `${DATASET}/releases/${name}/index.html`).slice(-2)
  return [...top, ...inFolders, ...release].filter((path) => existsSync(join(publicDir, path)))
}

async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return []
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => name.endsWith('.html')).sort()
}
