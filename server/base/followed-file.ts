import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'

/** A file that another program replaces while the server runs. */
export interface FollowedFile {
  /** Looks whether the file changed, and if so takes it in. Never throws: problems are logged. */
  check(): Promise<void>
  /** Checks again and again until `stop`. */
  follow(): void
  /** Ends following; resolved when a check that still runs is done. */
  stop(): Promise<void>
}

export interface FollowOptions {
  path: string
  /** Takes in the file with the fingerprint `stamp`, or throws, and what it said before stays in force. */
  load(stamp: string): Promise<void>
  /** Tells that `load` threw. */
  onRefused(error: unknown): void
  log: FastifyBaseLogger
}

const CHECK_INTERVAL_MS = 1000
const LONGEST_BACKOFF_CHECKS = 60

/** Follows the file at `path`, so that what it says is in force without a restart. It need not be there yet. */
export function followFile({ path, load, onRefused, log }: FollowOptions): FollowedFile {
  let seen: string | undefined
  let failures = 0
  let checksToSkip = 0
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function loadIfChanged(): Promise<void> {
    const found = await fingerprint(path)
    // What could not be taken in is tried again, ever less often: a copy to this machine may still be on its way.
    const isRetryDue = failures > 0 && --checksToSkip < 0
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

  async function check(): Promise<void> {
    running ??= loadIfChanged()
      .catch((error: unknown) => log.error({ err: error }, `${basename(path)} cannot be read`))
      .finally(() => {
        running = undefined
      })
    await running
  }

  return {
    check,
    follow() {
      // Polling, because notices of the file system do not cross network mounts and containers.
      timer = setInterval(() => void check(), CHECK_INTERVAL_MS).unref()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/** What changes whenever the file is replaced; undefined when there is none. */
export async function fingerprint(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  return found && `${found.mtimeNs}-${found.size}-${found.ino}`
}
