import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')

/** `tokenboard serve` as a process of its own. */
export interface Serving {
  url: string
  port: number
  /** The management key that it printed for a new store. */
  key: string
  /** What it logged at `warn` and above. */
  complaints: string[]
  /** Of the process and of its workers, in bytes. */
  residentMemory(): number
  signal(name: NodeJS.Signals): void
  /** How it ended; resolves when it has. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Ends it at once, if it still runs. */
  kill(): Promise<void>
}

export async function serve(
  folders: { publicDir: string; dataDir: string },
  settings: Record<string, string> = {},
  { isNewStore = true } = {},
): Promise<Serving> {
  const expectedLines = isNewStore ? 3 : 1
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [CLI, 'serve'], {
    env: {
      PATH,
      HOME,
      PORT: '0',
      LOG_LEVEL: 'warn',
      DATA_DIR: folders.dataDir,
      PUBLIC_DIR: folders.publicDir,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaints: string[] = []
  createInterface(child.stderr).on('line', (line) => complaints.push(line))
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (lines.length === expectedLines) break
  }
  if (lines.length < expectedLines) throw new Error(`the server did not start: ${complaints.join('\n')}`)
  const url = (lines[0] ?? '').replace('listening ', '')
  return {
    url,
    port: Number(new URL(url).port),
    key: lines[1]?.replace('key ', '') ?? '',
    complaints,
    residentMemory: () => residentMemory(child),
    signal: (name) => child.kill(name),
    ended,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Linux says it in files of the process; elsewhere there is nothing to say. */
function residentMemory({ pid }: ChildProcess): number {
  const family = new Set([String(pid)])
  let bytes = 0
  for (const entry of readdirSync('/proc').toSorted((a, b) => Number(a) - Number(b))) {
    const status = /^\d+$/.test(entry) ? readStatus(entry) : ''
    const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1] ?? ''
    if (family.has(parent)) family.add(entry)
    if (family.has(entry)) bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  }
  return bytes
}

function readStatus(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    // It has ended since the folder was listed.
    return ''
  }
}
