/** Web servers of the machine with the configurations in deploy/, as they stand there. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { buildIn, crowd, REPOSITORY, type Workspace, writeSmallBuild } from '../support/pipeline.ts'

/** Debian keeps servers where the path of a person who is not root does not lead. */
const { PATH: own = '' } = process.env
export const PATH = [own, '/usr/sbin'].join(delimiter)

/** The text of a file of the project. */
export function projectFile(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8')
}

/** Whether a program is on this machine. */
export function isInstalled(program: string, ...words: string[]): boolean {
  try {
    execFileSync(program, words, { env: { ...process.env, PATH }, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Releases usage of 60 models, with so many tokens and more. */
export async function release(workspace: Workspace, tokens: number, asOf?: string): Promise<void> {
  await writeSmallBuild(workspace, { sources: [{ records: crowd(60, (index) => tokens + index) }] })
  await buildIn(workspace, asOf)
}

/** Exports what is published into a folder for a static host. */
export async function exportTo(workspace: Workspace, folder: string, options: { symlinks?: boolean } = {}) {
  const config = readPipelineConfig({ PUBLIC_DIR: workspace.publicDir, DATA_DIR: workspace.dataDir })
  const { signal } = new AbortController()
  const effects = { now: () => new Date(), report: () => {}, signal, files: realFiles }
  await exportPublished(config, effects, { folder, ...options })
}

/** Skips a test because something is not installed here, and says so. */
export function skipLoudly(skip: (note?: string) => never, reason: string): never {
  process.stderr.write(`SKIPPED, NOT PROVED: ${reason}\n`)
  return skip(reason)
}

export interface Host {
  url: string
  stop(): Promise<void>
}

/** A server that can be run with its configuration in deploy/static/, where it is installed. */
export interface HostKind {
  name: string
  isHere: boolean
  /** Serves `root`; `folder` is empty and for its own files. */
  start(root: string, folder: string): Promise<Host>
}

export const HOST_KINDS: readonly HostKind[] = [
  { name: 'nginx', isHere: isInstalled('nginx', '-v'), start: startNginx },
  { name: 'Caddy', isHere: isInstalled('caddy', 'version'), start: startCaddy },
]

async function startNginx(root: string, folder: string): Promise<Host> {
  const port = await freePort()
  const site = put(projectFile('deploy/static/nginx.conf'), [
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['root /srv/tokenboard;', `root ${root};`],
  ])
  return runNginx(site, port, folder)
}

/** Runs nginx with `site` in its `http` block, from `site.conf` in `folder`, which is for its own files. */
export async function runNginx(site: string, port: number, folder: string): Promise<Host> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  // Its workers need the folder, which belongs to who runs it.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const config = `daemon off; ${user} pid ${join(folder, 'pid')}; error_log stderr warn;
events { }
http { access_log off; ${temporary.join(' ')} include ${join(folder, 'site.conf')}; }
`
  await writeFile(join(folder, 'site.conf'), site)
  await writeFile(join(folder, 'nginx.conf'), config)
  return start(port, spawnServer('nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')]))
}

async function startCaddy(root: string, folder: string): Promise<Host> {
  const port = await freePort()
  const site = put(projectFile('deploy/static/Caddyfile'), [
    ['data.example.org {', `http://127.0.0.1:${port} {`],
    ['root * /srv/tokenboard', `root * ${root}`],
  ])
  return runCaddy(`{\n\tadmin off\n}\n${site}`, port, folder)
}

/** Runs Caddy with a whole Caddyfile, from `Caddyfile` in `folder`, which is for its own files. */
export async function runCaddy(caddyfile: string, port: number, folder: string): Promise<Host> {
  await writeFile(join(folder, 'Caddyfile'), caddyfile)
  const words = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  return start(port, spawnServer('caddy', words, { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }))
}

/** What a person changes in a configuration before using it. */
export function put(text: string, changes: readonly (readonly [before: string, after: string])[]): string {
  for (const [before] of changes) if (!text.includes(before)) throw new Error(`the configuration has no ${before}`)
  return changes.reduce((changed, [before, after]) => changed.replace(before, after), text)
}

function spawnServer(program: string, words: string[], environment: Record<string, string> = {}): ChildProcess {
  return spawn(program, words, { env: { ...process.env, ...environment, PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
}

async function start(port: number, server: ChildProcess): Promise<Host> {
  const url = `http://127.0.0.1:${port}`
  const exit = once(server, 'exit')
  let complaints = ''
  server.stderr?.on('data', (chunk) => (complaints += chunk))
  while (!(await isServed(url))) {
    if (server.exitCode !== null) throw new Error(`${server.spawnargs.join(' ')} ended: ${complaints}`)
    await sleep(20)
  }
  return {
    url,
    async stop() {
      server.kill('SIGTERM')
      await exit
    },
  }
}

async function isServed(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

/** Ports below those that the system hands out to whoever asks for any: a range for each worker of a run. */
const { VITEST_POOL_ID: worker = '0' } = process.env
const FIRST_PORT = 10_000 + 1000 * (Number(worker) % 20)
let portsGiven = 0

/** A port of the loopback interface that nobody listens on, and that no connection or other test takes before its server does. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (portsGiven++ % 1000)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  try {
    await listening
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
