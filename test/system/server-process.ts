/** The server as a process of its own, as `make serve` starts it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { REPOSITORY } from '../support/pipeline.ts'

export const CLI = join(REPOSITORY, 'pipeline/cli.ts')

export interface ServerProcess {
  address: string
  /** What it printed. */
  lines: string[]
  log(): string
  /** Ends it as a crash would. */
  kill(): Promise<void>
}

/** Starts a server with these settings alone, and waits until it listens. */
export async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, [CLI, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  const lines: string[] = []
  const listening = Promise.withResolvers<string>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    if (line.startsWith('listening ')) listening.resolve(line.replace('listening ', ''))
  })
  child.once('exit', () => listening.reject(new Error(`the server ended before it listened: ${log}`)))
  const address = await listening.promise
  return {
    address,
    lines,
    log: () => log,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
