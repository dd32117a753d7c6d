import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { RankingResponse, RankingRow } from '../contract/ranking.ts'
import type { DataFile } from '../contract/release-files.ts'

const PARQUET_TYPES = { date: 'DATE', model_permaslug: 'VARCHAR', total_tokens: 'BIGINT' }

/** Reads the rows of a release file, with other code than wrote it where possible. Throws `BuildError`. */
export async function readBack(database: Database, folder: string, file: DataFile): Promise<RankingRow[]> {
  const path = join(folder, file)
  if (file === 'rankings-daily.parquet') return readParquet(database, path)
  return naming(path, file.slice('rankings-daily.'.length), () => readTextRows(database, path, file))
}

async function readTextRows(
  database: Database,
  path: string,
  file: Exclude<DataFile, 'rankings-daily.parquet'>,
): Promise<RankingRow[]> {
  switch (file) {
    case 'rankings-daily.csv':
      return database.rows<RankingRow>('data-files/read_csv', { path, compression: 'uncompressed' })
    case 'rankings-daily.csv.gz':
      return database.rows<RankingRow>('data-files/read_csv', { path, compression: 'gzip' })
    case 'rankings-daily.json.gz':
      return RankingResponse.parse(JSON.parse((await readText(path)).toString())).data
    case 'rankings-daily.ndjson.gz':
      return (await readText(path))
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => RankingRow.parse(JSON.parse(line)))
  }
}

/** Reads rows in file order. Throws `BuildError` for a damaged file or wrong columns or types. */
export function readParquet(database: Database, path: string): Promise<RankingRow[]> {
  return naming(path, 'Parquet', async () => {
    await verifyParquetTypes(database, path)
    return database.rows<RankingRow>('data-files/read_parquet', { path })
  })
}

async function verifyParquetTypes(database: Database, path: string): Promise<void> {
  const columns = await database.rows<{ column_name: string; column_type: string }>('parquet/columns', { path })
  const written = Object.fromEntries(columns.map(({ column_name, column_type }) => [column_name, column_type]))
  if (JSON.stringify(written) === JSON.stringify(PARQUET_TYPES)) return
  throw new BuildError(`${path} has the columns ${JSON.stringify(written)} instead of ${JSON.stringify(PARQUET_TYPES)}`)
}

export async function readText(path: string): Promise<Buffer> {
  const bytes = await readFile(path)
  return path.endsWith('.gz') ? promisify(gunzip)(bytes) : bytes
}
