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
  csv: string
}

/** A row of a Parquet file that has the right types. */
type ParquetRow = { date: Date; model_permaslug: string; total_tokens: bigint; days?: number }

const DAYS: Reader = {
  row: RankingRow,
  parquetTypes: PARQUET_TYPES,
  csv: 'data-files/read_csv',
}

const PERIODS: Reader = {
  row: PeriodRow,
  parquetTypes: { ...PARQUET_TYPES, days: 'INTEGER' },
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
  const { parquetTypes } = READERS[table ?? 'daily']
  return naming(path, 'Parquet', async () => {
    const { types, rows } = await database.typedRows<ParquetRow>('data-files/read_parquet', { path })
    if (JSON.stringify(types) !== JSON.stringify(parquetTypes)) {
      throw new BuildError(
        `${path} has the columns ${JSON.stringify(types)} instead of ${JSON.stringify(parquetTypes)}`,
      )
    }
    return rows.map((row) => ({
      ...row,
      date: row.date.toISOString().slice(0, 10),
      total_tokens: row.total_tokens.toString(),
    })) as RowOf<T>[]
  })
}

export async function readText(path: string): Promise<Buffer> {
  const bytes = await readFile(path)
  return path.endsWith('.gz') ? promisify(gunzip)(bytes) : bytes
}
