import { decompress } from 'fzstd'
import { parquetReadObjects } from 'hyparquet'
import type { Row } from './row.ts'

const MILLISECONDS_PER_DAY = 86_400_000

/** Reads a release's Parquet file, in published order. Throws if it is invalid. */
export async function readRows(file: ArrayBuffer): Promise<Row[]> {
  const rows = await parquetReadObjects({
    file,
    columns: ['date', 'model_permaslug', 'total_tokens'],
    compressors: { ZSTD: (input, outputLength) => decompress(input, new Uint8Array(outputLength)) },
    parsers: { dateFromDays: (days) => new Date(days * MILLISECONDS_PER_DAY).toISOString().slice(0, 10) },
  })
  return rows as Row[]
}
