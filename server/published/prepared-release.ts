import { PERIOD_TABLES } from '../../pipeline/contract/tables.ts'
import type { PreparedRelease } from './dataset.ts'
import type { ReleaseOrder } from './loaders.ts'
import { compressTable, mapTables, serialiseTable } from './prepared-table.ts'
import { readAuthors, readCurrentRelease, readListedRelease, readTable } from './release.ts'

/**
 * A release without gzip, then with it. The first one of a server begins with its daily table alone. Takes a second for
 * two years, so keep it off the event loop.
 */
export async function* prepareRelease({ publicDir, entry, isFirst }: ReleaseOrder): AsyncGenerator<PreparedRelease> {
  const release = await (entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry))
  const { manifest } = release
  const tables: PreparedRelease['tables'] = { daily: serialiseTable(await readTable(release, 'daily')) }
  if (isFirst) yield { manifest, tables: { ...tables }, isComplete: false }
  for (const table of manifest.tables === undefined ? [] : PERIOD_TABLES) {
    tables[table] = serialiseTable(await readTable(release, table))
  }
  const complete: PreparedRelease = { manifest, tables, authors: await readAuthors(release), isComplete: true }
  if (!isFirst) yield complete
  yield { ...complete, tables: mapTables(tables, compressTable) }
}
