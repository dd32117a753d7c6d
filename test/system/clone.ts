import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const REPOSITORY = join(import.meta.dirname, '../..')

/** The instant that every system test builds and serves at. */
export const AS_OF = '2026-11-20T12:00:00Z'

/** What a stranger has: a clone of the last commit in a folder of its own, and nothing installed. */
export function cloneProject(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'tokenboard-system-')), 'a clone')
  execFileSync('git', ['clone', '--quiet', REPOSITORY, folder])
  return folder
}

/** The environment of a person's shell: no setting of this project, nothing of the test runner. */
export function environment(settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG } = process.env
  const proxy = Object.entries(process.env).filter(([name]) => /^(npm_config_|.*_proxy$|.*CERT)/i.test(name))
  return { ...Object.fromEntries(proxy), PATH: withoutProject(PATH ?? ''), HOME, LANG, AS_OF, ...settings }
}

function withoutProject(path: string): string {
  return path
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':')
}

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a command to its end. */
export async function run(
  command: string,
  words: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<Finished> {
  const child = spawn(command, words, {
    ...options,
    env: options.env ?? environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return finish(child)
}

/** Collects what a running command prints until it ends. */
export async function finish(child: ChildProcess): Promise<Finished> {
  const text = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => (text.stdout += chunk))
  child.stderr?.on('data', (chunk) => (text.stderr += chunk))
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject)
  child.on('close', resolve)
  return { code: await promise, ...text }
}

/** A server that a test started, with the lines of its stdout that were read so far. */
export interface Served {
  url: string
  lines: string[]
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<{ code: number | null; lines: string[] }>
}

/** Runs `make serve` on any free port and waits for `count` lines of stdout. */
export async function serve(folder: string, count: number, settings: Record<string, string> = {}): Promise<Served> {
  const child = spawn('make', ['serve', 'PORT=0'], {
    cwd: folder,
    env: environment({ LOG_LEVEL: 'warn', ...settings }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const complaints: string[] = []
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)))
  const ended = Promise.withResolvers<number | null>()
  child.on('close', ended.resolve)
  const lines: string[] = []
  const ready = Promise.withResolvers<void>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    if (lines.length === count) ready.resolve()
  })
  void ended.promise.then(() => ready.reject(new Error(`make serve ended: ${complaints.join('')}`)))
  await ready.promise
  return {
    url: lines[0]?.replace('listening ', '') ?? '',
    lines,
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      return { code: await ended.promise, lines }
    },
  }
}
