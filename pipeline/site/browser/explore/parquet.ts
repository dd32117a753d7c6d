import { decompress } from 'fzstd'
import { parquetReadObjects } from 'hyparquet'
import type { Row } from './row.ts'

const MILLISECONDS_PER_DAY = 86_400_000
const COLUMNS = ['date', 'model_permaslug', 'total_tokens']

/** Reads the Parquet file of a table, in published order. Throws if it is invalid. */
export async function readRows(file: ArrayBuffer, { hasDays = false } = {}): Promise<Row[]> {
  const rows = await parquetReadObjects({
    file,
    columns: hasDays ? [...COLUMNS, 'days'] : COLUMNS,
    compressors: { ZSTD: (input, outputLength) => decompress(input, new Uint8Array(outputLength)) },
    parsers: { dateFromDays: (days) => new Date(days * MILLISECONDS_PER_DAY).toISOString().slice(0, 10) },
  })
  return rows as Row[]
}
