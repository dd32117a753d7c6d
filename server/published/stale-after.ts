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
  let seen: { stamp: string; release: string; date: Promise<Date | undefined> } | undefined

  async function read(release: string, known: Date | undefined): Promise<Date | undefined> {
    try {
      const [{ latest, stale_after }] = Deadline.parse(JSON.parse(await readFile(path, 'utf8'))).datasets
      return latest.release === release ? new Date(stale_after) : known
    } catch {
      // The catalogue is for readers. `verify` says what is wrong with it.
      return known
    }
  }

  return async (release) => {
    const stamp = await sharedFingerprint(path).catch(() => undefined)
    const known = seen?.release === release ? seen : undefined
    if (stamp !== undefined && stamp !== known?.stamp) {
      const date = Promise.resolve(known?.date).then((before) => read(release, before))
      seen = { stamp, release, date }
      return await date
    }
    return await known?.date
  }
}
