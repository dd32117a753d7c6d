import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { POINTER_PATH } from '../../pipeline/contract/published-paths.ts'
import { followFile } from '../base/followed-file.ts'
import type { Dataset } from './dataset.ts'
import type { LoadRelease } from './loaders.ts'

export type CurrentRelease = ReturnType<typeof currentRelease>

export function currentRelease(publicDir: string, log: FastifyBaseLogger, load: LoadRelease) {
  let current: Dataset | undefined
  let completing: Promise<Dataset | undefined> | undefined

  async function loadCurrent(stamp: string): Promise<void> {
    const started = performance.now()
    const { plain, whole } = load({ publicDir, stamp, isFirst: current === undefined })
    if (current === undefined) {
      // Serve the daily table of the first release before the rest and the gzip are ready.
      const first = await plain
      current = first
      completing = whole.then(
        (dataset) => {
          if (current === first) current = dataset
          return dataset
        },
        (error: unknown) => {
          log.error(
            { err: error, release: first.manifest.release },
            'the release has its daily table alone, without gzip',
          )
          return undefined
        },
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
    path: join(publicDir, POINTER_PATH),
    load: loadCurrent,
    onRefused: refuse,
    log,
  })
  /** The newest valid release, if any. Call it once per answer: the next call may differ. */
  const dataset = () => current
  /** The same with all its tables, which follow the daily one in a moment. Undefined if they cannot be read. */
  const complete = async () => (current?.isComplete === false ? await completing : current)
  return { dataset, complete, ...pointer }
}
