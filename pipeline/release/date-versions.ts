import type { Database } from '../base/database.ts'
import { naming } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import type { ReleaseName } from '../contract/manifest.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** The rows of a date in the daily table as some consecutive releases have them. */
export type DateVersion = {
  /** The first of these releases. */
  release: ReleaseName
  rows: number
  total_tokens: string
  /** How many models have other tokens than in the version before. */
  changed_rows: number
}

/**
 * The versions of each date that has more than one, oldest first, from a `history.parquet`. A version without rows is one,
 * too. None if there is no such file. Throws `BuildError` for a damaged one.
 */
export async function readDateVersions(database: Database, path: string): Promise<Map<UtcDate, DateVersion[]>> {
  if (!(await isThere(path))) return new Map()
  const read = () => database.rows<DateVersion & { date: UtcDate }>('history-table/date_versions', { path })
  return Map.groupBy(await naming(path, 'Parquet', read), ({ date }) => date)
}
