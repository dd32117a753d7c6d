import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { DATASET_PATH } from '../pipeline/contract/manifest.ts'
import { type Dataset, prepareDataset } from './dataset.ts'
import { readCurrentRelease } from './release.ts'

/** Follows `latest.json`, so that a new release is served without a restart. */
export interface CurrentRelease {
  /** The newest valid release; undefined until there is one. Take it once for an answer: the next call may differ. */
  dataset(): Dataset | undefined
  /** Looks whether `latest.json` changed, and if so loads the release it points at. Never throws: problems are logged. */
  check(): Promise<void>
  /** Checks again and again until `stop`. */
  follow(): void
  stop(): void
}

const CHECK_INTERVAL_MS = 1000
const LONGEST_BACKOFF_CHECKS = 60

export function currentRelease(publicDir: string, log: FastifyBaseLogger): CurrentRelease {
  const pointerPath = join(publicDir, DATASET_PATH, 'latest.json')
  let current: Dataset | undefined
  let seen: string | undefined
  let failures = 0
  let checksToSkip = 0
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function load(): Promise<void> {
    const started = performance.now()
    current = prepareDataset(await readCurrentRelease(publicDir))
    const { release, rows, end_date } = current.manifest
    log.info({ release, rows, end_date, elapsed_ms: Math.round(performance.now() - started) }, 'release loaded')
  }

  async function loadIfChanged(): Promise<void> {
    const found = await fingerprint(pointerPath)
    // A release that could not be read is tried again, ever less often: a copy to this machine may still be on its way.
    const isRetryDue = failures > 0 && --checksToSkip < 0
    if (found === undefined || (found === seen && !isRetryDue)) return
    if (found !== seen) failures = 0
    seen = found
    try {
      await load()
      failures = 0
    } catch (error) {
      failures++
      checksToSkip = Math.min(2 ** failures, LONGEST_BACKOFF_CHECKS)
      log.error({ err: error, still_serving: current?.manifest.release ?? null }, 'the new release is refused')
    }
  }

  async function check(): Promise<void> {
    running ??= loadIfChanged()
      .catch((error: unknown) => log.error({ err: error }, 'latest.json cannot be read'))
      .finally(() => {
        running = undefined
      })
    await running
  }

  function follow(): void {
    // Polling, because notices of the file system do not cross network mounts and containers.
    timer = setInterval(() => void check(), CHECK_INTERVAL_MS).unref()
  }

  return { dataset: () => current, check, follow, stop: () => clearInterval(timer) }
}

/** What changes whenever the file is replaced; undefined when there is none. */
async function fingerprint(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  return found && `${found.mtimeNs}-${found.size}-${found.ino}`
}
