import type { FastifyBaseLogger } from 'fastify'
import { type FollowedFile, followFile } from '../base/followed-file.ts'
import type { Dataset } from './dataset.ts'
import { pointerPath } from './release.ts'
import type { LoadRelease } from './release-loader.ts'

/** Follows `latest.json`, so that a new release is served without a restart. */
export interface CurrentRelease extends FollowedFile {
  /** The newest valid release; undefined until there is one. Take it once for an answer: the next call may differ. */
  dataset(): Dataset | undefined
}

export function currentRelease(publicDir: string, log: FastifyBaseLogger, load: LoadRelease): CurrentRelease {
  let current: Dataset | undefined

  async function loadCurrent(stamp: string): Promise<void> {
    const started = performance.now()
    const { plain, whole } = load({ publicDir, stamp, isFirst: current === undefined })
    if (current === undefined) {
      // The first release is served as soon as it can be; the gzip of it follows.
      const first = await plain
      current = first
      whole.then(
        (dataset) => {
          if (current === first) current = dataset
        },
        (error: unknown) => log.error({ err: error, release: first.manifest.release }, 'the release has no gzip'),
      )
    } else {
      current = await whole
    }
    const { release, rows, end_date } = current.manifest
    log.info({ release, rows, end_date, elapsed_ms: Math.round(performance.now() - started) }, 'release loaded')
  }

  function refuse(error: unknown): void {
    log.error({ err: error, still_serving: current?.manifest.release ?? null }, 'the new release is refused')
  }

  const pointer = followFile({
    path: pointerPath(publicDir),
    load: loadCurrent,
    onRefused: refuse,
    log,
  })
  return { dataset: () => current, ...pointer }
}
