import { join } from 'node:path'
import { z } from 'zod'
import { CATALOG_FILE } from '../../pipeline/contract/published-paths.ts'
import { Timestamp } from '../../pipeline/contract/ranking.ts'
import { jsonIfAny, readWhenReplaced } from '../base/json-file.ts'

/** The part of `catalog.json` that says until when its release is fresh. */
const Deadline = z.object({
  datasets: z.tuple([z.object({ latest: z.object({ release: z.string() }), stale_after: Timestamp })], z.unknown()),
})

/**
 * When a release is late. The catalogue says it of the newest release only, so it is kept for the release that is served
 * while a newer one is refused. Undefined if it was never known.
 */
export function staleAfter(publicDir: string): (release: string) => Promise<Date | undefined> {
  const deadline = readWhenReplaced(join(publicDir, CATALOG_FILE), (bytes) => {
    // The catalogue is for readers. `verify` says what is wrong with it.
    return Deadline.safeParse(jsonIfAny(bytes)).data?.datasets[0]
  })
  let known: { release: string; date: Date } | undefined

  return async (release) => {
    const found = await deadline().catch(() => undefined)
    if (found?.latest.release === release) known = { release, date: new Date(found.stale_after) }
    return known?.release === release ? known.date : undefined
  }
}
