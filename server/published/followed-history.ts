import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS } from '../../pipeline/contract/published-paths.ts'
import { followFile } from '../base/followed-file.ts'
import type { Dataset } from './dataset.ts'
import { type History, historyOf } from './history.ts'
import type { LoadHistory } from './history-loader.ts'
import type { PreparedHistory } from './prepared-history.ts'

export interface FollowedHistory extends History {
  stop(): Promise<void>
}

/** The history of `PUBLIC_DIR`, loaded when it is first asked for, and followed from then on. There need not be one. */
export function followedHistory(publicDir: string, log: FastifyBaseLogger, load: LoadHistory): FollowedHistory {
  const path = join(publicDir, HISTORY_PATHS.csv)
  let current: History | undefined
  let firstLook: Promise<void> | undefined

  async function loadAgain(): Promise<void> {
    const started = performance.now()
    const isFirst = current === undefined
    const { plain, whole } = load({ path, isFirst })
    const open = (prepared: PreparedHistory) => {
      current = historyOf(prepared, publicDir, log)
      return current
    }
    const first = open(await (isFirst ? plain : whole))
    log.info({ elapsed_ms: Math.round(performance.now() - started) }, 'history loaded')
    if (!isFirst) return
    // Answer without gzip until it is ready.
    whole.then(
      (complete) => {
        if (current === first) open(complete)
      },
      (error: unknown) => log.error({ err: error }, 'the history has no gzip'),
    )
  }

  const file = followFile({
    path,
    load: loadAgain,
    onRefused: (error) => log.error({ err: error }, 'the history is refused'),
    log,
  })

  async function find(entry: ReleaseEntry): Promise<Dataset | undefined> {
    firstLook ??= file.look().then(file.follow)
    await firstLook
    const found = await current?.find(entry)
    if (found !== undefined || !entry.dropped) return found
    // The file may have been replaced within the last second.
    await file.look()
    return await current?.find(entry)
  }

  return { find, stop: file.stop }
}
