import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { CATALOG_FILE } from '../../pipeline/contract/published-paths.ts'
import { Timestamp } from '../../pipeline/contract/ranking.ts'
import { sharedFingerprint } from '../base/followed-file.ts'

/** The part of `catalog.json` that says until when its release is fresh. */
const Deadline = z.object({
  datasets: z.tuple([z.object({ latest: z.object({ release: z.string() }), stale_after: Timestamp })], z.unknown()),
})

/**
 * When a release is late. The catalogue says it of the newest release only, so it is kept for the release that is served
 * while a newer one is refused. Undefined if it was never known.
 */
export function staleAfter(publicDir: string): (release: string) => Promise<Date | undefined> {
  const path = join(publicDir, CATALOG_FILE)
  let stamp: string | undefined
  let known: { release: string; date: Date } | undefined

  async function readCatalog(release: string): Promise<void> {
    const [{ latest, stale_after }] = Deadline.parse(JSON.parse(await readFile(path, 'utf8'))).datasets
    if (latest.release === release) known = { release, date: new Date(stale_after) }
  }

  return async (release) => {
    const found = await sharedFingerprint(path).catch(() => undefined)
    if (found !== undefined && (found !== stamp || known?.release !== release)) {
      stamp = found
      // The catalogue is for readers. `verify` says what is wrong with it.
      await readCatalog(release).catch(() => undefined)
    }
    return known?.release === release ? known.date : undefined
  }
}
