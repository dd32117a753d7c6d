/** The site of the synthetic sample on two hosts: the project's own server, and the plainest there is. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startHost } from '../support/static-host.ts'
import { AS_OF, environment } from './clone.ts'

const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
const DATASET = 'datasets/rankings-daily/v1'

export interface SampleSite {
  publicDir: string
  /** Where the top of the site is, with a slash at its end: on the server, and below a sub-path of a plain host. */
  hosts: { server: string; subPath: string }
  /** A key for the API of the server. */
  key: string
  stop(): Promise<void>
}

/** Builds the sample in a new folder with `tokenboard serve`, and serves it twice. */
export async function serveSampleSite(): Promise<SampleSite> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-site-'))
  const publicDir = join(folder, 'public')
  const child = spawn(process.execPath, [CLI, 'serve'], {
    cwd: folder,
    env: environment({ AS_OF, PORT: '0', LOG_LEVEL: 'warn' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaints: string[] = []
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)))
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === 3) break
  if (lines.length < 3) throw new Error(`tokenboard serve ended: ${complaints.join('')}`)
  const word = (line: number) => lines[line]?.split(' ')[1] ?? ''
  const plain = await startHost(publicDir, { below: '/some/place/' })
  return {
    publicDir,
    hosts: { server: `${word(0)}/`, subPath: plain.url },
    key: word(1),
    async stop() {
      await plain.stop()
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit')
        child.kill('SIGTERM')
        await exit
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The pages of a built site: one of each kind that it has. */
export async function pagesOf(publicDir: string): Promise<string[]> {
  const top = ['index.html', 'explore.html', 'models.html', 'coverage.html', 'changelog.html']
  const folders = ['models', 'coverage', 'changelog'].map(async (folder) => {
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
