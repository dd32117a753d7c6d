import { decompress } from 'fzstd'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import type { ChartRow } from '../../chart/rows.ts'

const MILLISECONDS_PER_DAY = 86_400_000
const COLUMNS = ['date', 'model_permaslug', 'total_tokens']

/** Reads the Parquet file of a table, in published order. Throws if it is invalid. */
export async function readRows(file: ArrayBuffer, { hasDays = false } = {}): Promise<ChartRow[]> {
  return (await readObjects({ file, columns: hasDays ? [...COLUMNS, 'days'] : COLUMNS })) as ChartRow[]
}

interface HistoryRow extends ChartRow {
  table: string
  position: number
  valid_from: string
  valid_to: string | null
}

/** Reads a table of a release from the history; undefined if it does not have the release. Throws if it is invalid. */
export async function readHistory(
  file: ArrayBuffer,
  { release, table }: { release: string; table: string },
): Promise<ChartRow[] | undefined> {
  const metadata = parquetMetadata(file)
  const releases = metadata.key_value_metadata?.find(({ key }) => key === 'releases')?.value?.split(' ')
  if (!releases?.includes(release)) return undefined
  const rows = (await readObjects({ file, metadata })) as HistoryRow[]
  const standing = rows.filter((row) => {
    return row.table === table && row.valid_from <= release && (row.valid_to === null || row.valid_to > release)
  })
  return standing.sort((a, b) => (a.date === b.date ? a.position - b.position : a.date < b.date ? -1 : 1))
}

function readObjects(options: Parameters<typeof parquetReadObjects>[0]): Promise<unknown[]> {
  return parquetReadObjects({
    ...options,
    compressors: { ZSTD: (input, outputLength) => decompress(input, new Uint8Array(outputLength)) },
    parsers: { dateFromDays: (days) => new Date(days * MILLISECONDS_PER_DAY).toISOString().slice(0, 10) },
  })
}
