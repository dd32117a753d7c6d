import type { Database } from '../base/database.ts'
import type { TableChanges } from '../contract/change-log.ts'
import type { Manifest } from '../contract/manifest.ts'
import { type TableRows, tableChanges } from '../dataset/change-log.ts'
import { placeOfRows, readChangedDates } from './read-back.ts'
import { loadRelease, readPeriods } from './verify.ts'

/**
 * What changes from a release, if there is one, to `ranking`, whose days are in the table `out_rankings_daily`. Of days
 * that are the same, JavaScript reads none. Throws `BuildError`.
 */
export async function changesSince(
  previous: { folder: string; manifest: Pick<Manifest, 'tables'> } | undefined,
  ranking: TableRows,
  database: Database,
): Promise<TableChanges> {
  if (previous === undefined) return tableChanges(undefined, ranking)
  const { folder, manifest } = previous
  const { path, release } = await placeOfRows(folder, 'daily')
  if (release !== undefined) return tableChanges(await loadRelease(database, folder), ranking)
  const before = await readChangedDates(database, path)
  const periods = await readPeriods(database, folder, manifest)
  const rows = ranking.rows.filter(({ date }) => before.dates.has(date))
  return tableChanges({ rows: before.rows, periods }, { ...ranking, rows })
}
