import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { sharing } from './remembered.ts'

export interface FollowedFile {
  /** Loads the file if it changed. Never throws: errors are logged. */
  check(): Promise<void>
  /** The same for requests, however many: a file that was refused is not tried again before it changes. */
  look(): Promise<void>
  follow(): void
  stop(): Promise<void>
}

export interface FollowOptions {
  path: string
  /** Loads the file with the fingerprint `stamp`. If it throws, the previous content stays in use. */
  load(stamp: string): Promise<void>
  onRefused(error: unknown): void
  log: FastifyBaseLogger
}

const CHECK_INTERVAL_MS = 1000
const LONGEST_BACKOFF_CHECKS = 60

/** Reloads a file whenever another program replaces it. It need not exist yet. */
export function followFile({ path, load, onRefused, log }: FollowOptions): FollowedFile {
  let seen: string | undefined
  let failures = 0
  let checksToSkip = 0
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function loadIfChanged(mayRetry: boolean): Promise<void> {
    const found = await fingerprint(path)
    // Retry after a failure, with backoff: the file may still be copied to this machine.
    const isRetryDue = mayRetry && failures > 0 && --checksToSkip < 0
    if (found === undefined || (found === seen && !isRetryDue)) return
    if (found !== seen) failures = 0
    seen = found
    try {
      await load(found)
      failures = 0
    } catch (error) {
      failures++
      checksToSkip = Math.min(2 ** failures, LONGEST_BACKOFF_CHECKS)
      onRefused(error)
    }
  }

  async function run(mayRetry: boolean): Promise<void> {
    running ??= loadIfChanged(mayRetry)
      .catch((error: unknown) => log.error({ err: error }, `${basename(path)} cannot be read`))
      .finally(() => {
        running = undefined
      })
    await running
  }

  const check = () => run(true)

  return {
    check,
    look: () => run(false),
    follow() {
      // Poll, because file system events do not cross network mounts and containers.
      timer = setInterval(() => void check(), CHECK_INTERVAL_MS).unref()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/** Changes whenever the file is replaced; undefined if it does not exist. */
export async function fingerprint(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  return found && `${found.mtimeNs}-${found.size}-${found.ino}`
}

const looks = sharing<string | undefined>()

/** The same, for requests: those that ask at a time share one look, so that a slow mount does not fill the thread pool. */
export function sharedFingerprint(path: string): Promise<string | undefined> {
  return looks(path, () => fingerprint(path))
}
