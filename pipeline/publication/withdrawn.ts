import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { hashFile, namesIn } from '../base/files.ts'
import { contentHash } from '../base/text.ts'
import { type ContentHash, DATASET_PATH, type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { readBack } from '../release/read-back.ts'
import type { PublicFolder } from './public-folder.ts'

/** What a release holds of each day and month, by the folder of its revisions: `daily/2026-11-19`. */
type Holdings = Map<string, ContentHash>

/**
 * Removes the revisions of days and months whose rows are those of a release that is withdrawn and of none that still
 * stands. What the release shared with others stays. The release's Parquet file must still be there.
 */
export async function removeRevisionsOf(
  { publicDir, files }: PublicFolder,
  release: ReleaseName,
  standing: readonly ReleaseName[],
  database: Database,
): Promise<void> {
  const dataset = join(publicDir, DATASET_PATH)
  const holdingsOf = async (name: ReleaseName) =>
    holdings(await readBack(database, join(publicDir, releasePath(name)), 'rankings-daily.parquet'))
  const orphans = await holdingsOf(release)
  // The newest first: it has most rows in common with the withdrawn one, which mostly was the newest itself.
  for (const name of standing.toReversed()) {
    if (orphans.size === 0) return
    for (const [period, hash] of await holdingsOf(name)) if (orphans.get(period) === hash) orphans.delete(period)
  }
  for (const [period, hash] of orphans) {
    const folder = join(dataset, period)
    for (const name of await namesIn(folder)) {
      if (!name.endsWith('.csv') || `sha256:${(await hashFile(join(folder, name))).sha256}` !== hash) continue
      const stem = name.slice(0, -'csv'.length)
      // The CSV goes last: by it the next build finds what a stopped one has left.
      for (const form of ['json', 'parquet', 'csv']) await files.remove(join(folder, stem + form))
    }
    if ((await namesIn(folder)).length === 0) await files.remove(folder)
  }
}

function holdings(rows: readonly RankingRow[]): Holdings {
  const periods = [
    ...Map.groupBy(rows, ({ date }) => `daily/${date}`),
    ...Map.groupBy(rows, ({ date }) => `monthly/${date.slice(0, 7)}`),
  ]
  return new Map(periods.map(([period, own]) => [period, contentHash(own)]))
}
