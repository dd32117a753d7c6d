/** A server as a process of its own, which prints `listening URL` when it can be asked. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const REPOSITORY = join(import.meta.dirname, '../..')

export interface ServerProcess {
  pid: number
  url: string
  port: number
  /** What it has printed so far. */
  lines: string[]
  /** The lines of its log so far, unless that is a file. */
  log: string[]
  /** How long it took until it listened. */
  startMs: number
  isRunning(): boolean
  /** How it ended; resolves when it has. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  signal(name: NodeJS.Signals): void
  /** Ends it as a crash would. */
  kill(): Promise<void>
}

interface StartOptions {
  /** How many lines it prints before it can be asked. */
  lines?: number
  cwd?: string
  logFile?: string
  /** Whether signals go to the processes that it starts, too. */
  isGroup?: boolean
}

/** Runs Node with these words and with this environment alone. */
export function startNode(words: readonly string[], env: NodeJS.ProcessEnv, options: StartOptions = {}) {
  return startServer(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], env, options)
}

export async function startServer(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  { lines: count = 1, cwd = REPOSITORY, logFile, isGroup = false }: StartOptions = {},
): Promise<ServerProcess> {
  const began = performance.now()
  const stderr = logFile === undefined ? 'pipe' : openSync(logFile, 'a')
  const child = spawn(program, words, { cwd, env, stdio: ['ignore', 'pipe', stderr], detached: isGroup })
  const [lines, log]: [string[], string[]] = [[], []]
  const ready = Promise.withResolvers<void>()
  let startMs = 0
  if (child.stdout === null) throw new Error('stdout is a pipe')
  createInterface(child.stdout).on('line', (line) => {
    if (lines.push(line) === 1) startMs = performance.now() - began
    if (lines.length === count) ready.resolve()
  })
  if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => log.push(line))
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  void ended.then(() => ready.reject(new Error(`${words.join(' ')} did not start: ${log.join('\n')}`)))
  await ready.promise
  const url = lines[0]?.replace('listening ', '') ?? ''
  return {
    pid: child.pid ?? 0,
    url,
    port: Number(new URL(url).port),
    lines,
    log,
    startMs,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => (isGroup && child.pid !== undefined ? process.kill(-child.pid, name) : child.kill(name)),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** `tokenboard serve` on a free port. It prints three lines for a new store, of which the second has a key. */
export async function serveTokenboard(
  folders: { publicDir: string; dataDir: string },
  settings: Record<string, string> = {},
  options: StartOptions = {},
): Promise<ServerProcess & { key: string }> {
  const { PATH, HOME } = process.env
  const { publicDir, dataDir } = folders
  const env = { PATH, HOME, PORT: '0', LOG_LEVEL: 'warn', DATA_DIR: dataDir, PUBLIC_DIR: publicDir, ...settings }
  const server = await startNode(['pipeline/cli.ts', 'serve'], env, { lines: 3, ...options })
  return { ...server, key: server.lines[1]?.replace('key ', '') ?? '' }
}
