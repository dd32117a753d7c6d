import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Database, SqlParameters } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import { contentHash } from '../base/text.ts'
import { canonicalCsvHeader } from '../contract/canonical-csv.ts'
import type { ContentHash, ReleaseName } from '../contract/manifest.ts'
import { HISTORY_FILES } from '../contract/published-paths.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { dataFile } from '../contract/release-files.ts'
import type { RowOf, Table } from '../contract/tables.ts'
import { readRows } from '../dataset/read-rows.ts'

const DAYS = { date: 'DATE', model_permaslug: 'VARCHAR', total_tokens: 'BIGINT' }
const PERIODS = { ...DAYS, days: 'INTEGER' }
const TYPES = { daily: DAYS, weekly: PERIODS, monthly: PERIODS }

/**
 * Reads the rows of a table from the Parquet file of a release; from the history beside the releases if the file was
 * dropped. Throws `BuildError`.
 */
export async function readBack<T extends Table>(database: Database, folder: string, table: T): Promise<RowOf<T>[]> {
  const { path, release } = await placeOfRows(folder, table)
  return release === undefined ? readParquet(database, path, table) : readHistory(database, path, { release, table })
}

/** The Parquet file with the rows of a table; if it was dropped, the history and the release that it has to be read for. */
export async function placeOfRows(folder: string, table: Table): Promise<{ path: string; release?: ReleaseName }> {
  const path = join(folder, dataFile(table, 'parquet'))
  const history = historyBeside(folder)
  const isDropped = !(await isThere(path)) && (await isThere(history))
  return isDropped ? { path: history, release: basename(folder) } : { path }
}

/** The history beside `releases/`, which has the folder of a release. */
export function historyBeside(folder: string): string {
  return join(folder, '..', '..', HISTORY_FILES.parquet)
}

/** Reads the rows of a table as a release has them from a `history.parquet`. Throws `BuildError`. */
export function readHistory<T extends Table>(
  database: Database,
  path: string,
  { release, table }: { release: ReleaseName; table: T },
): Promise<RowOf<T>[]> {
  const statement = table === 'daily' ? 'history-table/read_rows' : 'history-table/read_rows_of_periods'
  const parameters = { path, release, ...(table !== 'daily' && { table }) }
  return fromHistory(database, path, () => readRows(database, statement, parameters))
}

/** The content hash of each table as a release has it. JavaScript reads no row. Throws `BuildError`. */
export async function hashesInHistory(
  database: Database,
  path: string,
  release: ReleaseName,
): Promise<Record<Table, ContentHash>> {
  const headers = { header_of_days: canonicalCsvHeader('daily'), header_of_periods: canonicalCsvHeader('weekly') }
  const read = () =>
    database.rows<{ table: Table; hash: string }>('history-table/content_hashes', { path, release, ...headers })
  const found = await fromHistory(database, path, read)
  const none = { daily: contentHash([]), weekly: contentHash([], 'weekly'), monthly: contentHash([], 'monthly') }
  return { ...none, ...Object.fromEntries(found.map(({ table, hash }) => [table, `sha256:${hash}` as const])) }
}

function fromHistory<Result>(database: Database, path: string, read: () => Promise<Result>): Promise<Result> {
  return naming(path, 'Parquet', async () => {
    await checkTypes(database, path, PERIODS, { statement: 'history-table/columns', parameters: { path } })
    return read()
  })
}

export interface HashedRows {
  rows: number
  hash: ContentHash
}

/** The content hash of all rows of a Parquet file, of which JavaScript reads none. Throws `BuildError`. */
export async function hashParquet(database: Database, path: string, table: Table): Promise<HashedRows> {
  const parameters = { path, header: canonicalCsvHeader(table) }
  return naming(path, 'Parquet', async () => {
    await checkTypes(database, path, TYPES[table], { statement: 'data-files/columns', parameters: { path } })
    const [found] = await database.rows<{ rows: bigint; hash: string }>('data-files/content_hash', parameters)
    return { rows: Number(found?.rows ?? 0n), hash: `sha256:${found?.hash}` }
  })
}

/**
 * The dates on which a daily Parquet file and the table `out_rankings_daily` have different rows, and the file's rows on
 * them. Throws `BuildError` as `readParquet` does.
 */
export async function readChangedDates(
  database: Database,
  path: string,
): Promise<{ dates: ReadonlySet<string>; rows: RankingRow[] }> {
  return naming(path, 'Parquet', async () => {
    await checkTypes(database, path, DAYS, { statement: 'data-files/columns', parameters: { path } })
    const found = await database.rows<{ date: string }>('data-files/changed_dates', { path })
    const dates = found.map(({ date }) => date)
    const rows = dates.length === 0 ? [] : await readRows(database, 'data-files/read_dates', { path, dates })
    return { dates: new Set(dates), rows }
  })
}

/** Reads rows in file order. Throws `BuildError` for a damaged file or wrong columns or types. */
export async function readParquet<T extends Table = 'daily'>(
  database: Database,
  path: string,
  table?: T,
): Promise<RowOf<T>[]> {
  const types = TYPES[table ?? 'daily']
  const statement = types === DAYS ? 'data-files/read_parquet' : 'data-files/read_parquet_of_periods'
  return naming(path, 'Parquet', async () => {
    await checkTypes(database, path, types, { statement: 'data-files/columns', parameters: { path } })
    return readRows(database, statement, { path })
  })
}

async function checkTypes(
  database: Database,
  path: string,
  types: Record<string, string>,
  { statement, parameters }: { statement: string; parameters: SqlParameters },
): Promise<void> {
  const columns = await database.rows<{ column_name: string; column_type: string }>(statement, parameters)
  const found = JSON.stringify(
    Object.fromEntries(columns.map(({ column_name, column_type }) => [column_name, column_type])),
  )
  const expected = JSON.stringify(types)
  if (found !== expected) throw new BuildError(`${path} has the columns ${found} instead of ${expected}`)
}

/** By default it is 16 KiB, and to put so many pieces together takes as long as to unpack them. */
const CHUNK_BYTES = 262_144

export async function readText(path: string): Promise<Buffer> {
  const bytes = await readFile(path)
  return path.endsWith('.gz') ? promisify(gunzip)(bytes, { chunkSize: CHUNK_BYTES }) : bytes
}
