import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { DATASET_PATH } from '../pipeline/contract/manifest.ts'
import { type Dataset, prepareDataset } from './dataset.ts'
import { type FollowedFile, followFile } from './followed-file.ts'
import { readCurrentRelease } from './release.ts'

/** Follows `latest.json`, so that a new release is served without a restart. */
export interface CurrentRelease extends FollowedFile {
  /** The newest valid release; undefined until there is one. Take it once for an answer: the next call may differ. */
  dataset(): Dataset | undefined
}

export function currentRelease(publicDir: string, log: FastifyBaseLogger): CurrentRelease {
  let current: Dataset | undefined

  async function load(): Promise<void> {
    const started = performance.now()
    current = await prepareDataset(await readCurrentRelease(publicDir))
    const { release, rows, end_date } = current.manifest
    log.info({ release, rows, end_date, elapsed_ms: Math.round(performance.now() - started) }, 'release loaded')
  }

  const pointer = followFile({
    path: join(publicDir, DATASET_PATH, 'latest.json'),
    load,
    onRefused(error) {
      log.error({ err: error, still_serving: current?.manifest.release ?? null }, 'the new release is refused')
    },
    log,
  })
  return { dataset: () => current, ...pointer }
}
