import type { Database } from '../base/database.ts'
import { placeOfRows } from '../release/read-back.ts'

/** Puts the daily rows of a release into the table `out_release_rows`, whether it has data files or was dropped. */
export async function createReleaseRows(database: Database, folder: string): Promise<void> {
  const { path, release } = await placeOfRows(folder, 'daily')
  if (release === undefined) await database.run('history/create_rows', { path })
  else await database.run('history/create_dropped_rows', { path, release })
}
