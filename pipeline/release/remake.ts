import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import type { Files } from '../base/files.ts'
import { contentHash } from '../base/text.ts'
import type { Manifest } from '../contract/manifest.ts'
import { type DataFile, dataFile } from '../contract/release-files.ts'
import { type Table, tableFacts } from '../contract/tables.ts'
import { rowsIn } from '../dataset/change-log.ts'
import { restorePeriods } from '../dataset/rank.ts'
import { readHistory } from './read-back.ts'
import { metaOf, renderRows, writeParquet } from './stage.ts'
import type { LoadedRelease } from './verify.ts'

/** The rows of a release in all its tables. */
export type TableRows = Pick<LoadedRelease, 'rows' | 'periods'>

/**
 * Reads the tables of a release from a `history.parquet`, and fills the tables of the database from which Parquet is written.
 * Throws `BuildError` if the rows are not those of the manifest.
 */
export async function readTables(database: Database, path: string, manifest: Manifest): Promise<TableRows> {
  const { release } = manifest
  const read = async <T extends Table>(table: T) => {
    const rows = await readHistory(database, path, { release, table })
    if (contentHash(rows, table) === tableFacts(manifest, table)?.content_hash) return rows
    throw new BuildError(`${path} does not have the ${table} rows of release ${release} that its manifest promises`)
  }
  const rows = await read('daily')
  await database.run('history-table/restore_daily', { path, release })
  if (manifest.tables === undefined) return { rows, periods: undefined }
  const periods = { weekly: await read('weekly'), monthly: await read('monthly') }
  await restorePeriods(database, periods)
  return { rows, periods }
}

/** Writes the data files of a table that `readTables` has read into a folder. Returns their names. */
export async function writeTable(
  database: Database,
  out: string,
  { table, manifest, rows }: { table: Table; manifest: Manifest; rows: TableRows },
  files: Files,
): Promise<DataFile[]> {
  const parquet = dataFile(table, 'parquet')
  await writeParquet(table, { draft: manifest, path: join(out, parquet) }, database, files)
  const texts = await renderRows(table, rowsIn(rows, table), metaOf(manifest))
  for (const [path, bytes] of texts) await files.write(join(out, path), bytes)
  return [parquet, ...texts.map(([path]) => path)]
}
