import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { RankingMeta, RankingRow } from '../contract/ranking.ts'
import { type DataFormat, dataFile } from '../contract/release-files.ts'
import { PeriodRow, type RowOf, type Table } from '../contract/tables.ts'

const PARQUET_TYPES = { date: 'DATE', model_permaslug: 'VARCHAR', total_tokens: 'BIGINT' }

/** How the files of a table are read. */
interface Reader {
  row: typeof RankingRow | typeof PeriodRow
  parquetTypes: Readonly<Record<string, string>>
  parquet: string
  csv: string
}

const DAYS: Reader = {
  row: RankingRow,
  parquetTypes: PARQUET_TYPES,
  parquet: 'data-files/read_parquet',
  csv: 'data-files/read_csv',
}

const PERIODS: Reader = {
  row: PeriodRow,
  parquetTypes: { ...PARQUET_TYPES, days: 'INTEGER' },
  parquet: 'data-files/read_parquet_of_periods',
  csv: 'data-files/read_csv_of_periods',
}

const READERS: Readonly<Record<Table, Reader>> = { daily: DAYS, weekly: PERIODS, monthly: PERIODS }

/** Reads the rows of a table from a release, with other code than wrote them where possible. Throws `BuildError`. */
export async function readBack<T extends Table>(
  database: Database,
  folder: string,
  table: T,
  format: DataFormat = 'parquet',
): Promise<RowOf<T>[]> {
  const path = join(folder, dataFile(table, format))
  const rows =
    format === 'parquet'
      ? await readParquet(database, path, table)
      : await naming(path, format, () => readTextRows(database, path, { reader: READERS[table], format }))
  return rows as RowOf<T>[]
}

async function readTextRows(
  database: Database,
  path: string,
  { reader: { csv, row }, format }: { reader: Reader; format: Exclude<DataFormat, 'parquet'> },
): Promise<RankingRow[]> {
  switch (format) {
    case 'csv':
      return database.rows<RankingRow>(csv, { path, compression: 'uncompressed' })
    case 'csv.gz':
      return database.rows<RankingRow>(csv, { path, compression: 'gzip' })
    case 'json.gz':
      return z.object({ data: z.array(row), meta: RankingMeta }).parse(JSON.parse((await readText(path)).toString()))
        .data
    case 'ndjson.gz':
      return (await readText(path))
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => row.parse(JSON.parse(line)))
  }
}

/** Reads rows in file order. Throws `BuildError` for a damaged file or wrong columns or types. */
export async function readParquet<T extends Table = 'daily'>(
  database: Database,
  path: string,
  table?: T,
): Promise<RowOf<T>[]> {
  const { parquet, parquetTypes } = READERS[table ?? 'daily']
  return naming(path, 'Parquet', async () => {
    await verifyParquetTypes(database, path, parquetTypes)
    return (await database.rows<RankingRow>(parquet, { path })) as RowOf<T>[]
  })
}

async function verifyParquetTypes(database: Database, path: string, types: Reader['parquetTypes']): Promise<void> {
  const columns = await database.rows<{ column_name: string; column_type: string }>('parquet/columns', { path })
  const written = Object.fromEntries(columns.map(({ column_name, column_type }) => [column_name, column_type]))
  if (JSON.stringify(written) === JSON.stringify(types)) return
  throw new BuildError(`${path} has the columns ${JSON.stringify(written)} instead of ${JSON.stringify(types)}`)
}

export async function readText(path: string): Promise<Buffer> {
  const bytes = await readFile(path)
  return path.endsWith('.gz') ? promisify(gunzip)(bytes) : bytes
}
