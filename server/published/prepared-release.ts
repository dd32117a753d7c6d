import { PERIOD_TABLES } from '../../pipeline/contract/tables.ts'
import type { PreparedRelease } from './dataset.ts'
import { compressTable, mapTables, serialiseTable } from './prepared-table.ts'
import { type Release, readAuthors, readTable } from './release.ts'

/** The daily table alone. */
export async function prepareDaily(release: Release): Promise<PreparedRelease> {
  const daily = serialiseTable(await readTable(release, 'daily'))
  return { manifest: release.manifest, tables: { daily }, isComplete: false }
}

/** Adds the authors and the tables of weeks and months, if the release has them. */
export async function prepareRest({ manifest, tables }: PreparedRelease, release: Release): Promise<PreparedRelease> {
  const complete: PreparedRelease = { manifest, tables: { ...tables }, isComplete: true }
  for (const table of manifest.tables === undefined ? [] : PERIOD_TABLES) {
    complete.tables[table] = serialiseTable(await readTable(release, table))
  }
  complete.authors = await readAuthors(release)
  return complete
}

/** Takes hundreds of milliseconds for two years, so keep it off the event loop. */
export function compressRelease(release: PreparedRelease): PreparedRelease {
  return { ...release, tables: mapTables(release.tables, compressTable) }
}
