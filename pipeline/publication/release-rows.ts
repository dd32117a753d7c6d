import type { Database } from '../base/database.ts'
import type { DateRange } from '../contract/manifest.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { placeOfRows } from '../release/read-back.ts'

/** Puts the daily rows of a release into the table `out_release_rows`, whether it has data files or was dropped. */
export async function createReleaseRows(database: Database, folder: string): Promise<void> {
  const { path, release } = await placeOfRows(folder, 'daily')
  if (release === undefined) await database.run('release-rows/create_rows', { path })
  else await database.run('release-rows/create_dropped_rows', { path, release })
}

/** The dates among some on which a release has rows, in order. */
export async function datesOfRows(database: Database, folder: string, range: DateRange): Promise<UtcDate[]> {
  const { path, release } = await placeOfRows(folder, 'daily')
  const found =
    release === undefined
      ? await database.rows<{ date: UtcDate }>('release-rows/dates_of_rows', { path, ...range })
      : await database.rows<{ date: UtcDate }>('release-rows/dates_of_dropped_rows', { path, release, ...range })
  return found.map(({ date }) => date)
}
