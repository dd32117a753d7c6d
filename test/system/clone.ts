import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServer } from '../support/server-process.ts'

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

/** Runs `make serve` on any free port and waits for so many lines of stdout. */
export function serve(folder: string, lines: number): Promise<ServerProcess> {
  const env = environment({ LOG_LEVEL: 'warn' })
  return startServer('make', ['serve', 'PORT=0'], env, { cwd: folder, lines, isGroup: true })
}
