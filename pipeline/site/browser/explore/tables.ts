import { decompress } from 'fzstd'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import type { Grain } from '../../chart/calendar.ts'
import type { ChartRow } from '../../chart/rows.ts'

/** A table of the release, as the page lists it. */
export interface TableFile {
  /** What the history calls it. */
  table: string
  parquet: string
  /** From which date on its rows may still change. */
  provisional_from: string
}

/** The tables of a release by what a row sums. The page lists the daily one, and the others if the release has them. */
export type TableFiles = Partial<Record<Grain, TableFile>>

/** The release is no longer published. */
export class GoneError extends Error {}

const GONE = [404, 410]

/**
 * Reads each table once, when it is first needed: from the history if the file of the release is gone. After an error it is
 * read again.
 */
export function tables(files: TableFiles, { release, history }: { release: string; history: string }) {
  const read = new Map<Grain, readonly ChartRow[]>()
  const underWay = new Set<Grain>()

  async function fetchRows(grain: Grain): Promise<void> {
    const { parquet = '', table = '' } = files[grain] ?? {}
    underWay.add(grain)
    try {
      const file = await fetchIfAny(parquet)
      read.set(grain, file ? await readRows(file, { hasDays: grain !== 'day' }) : await fetchDropped(table))
    } finally {
      underWay.delete(grain)
    }
  }

  async function fetchDropped(table: string): Promise<ChartRow[]> {
    const file = await fetchIfAny(history)
    const rows = file && (await readHistory(file, { release, table }))
    if (rows === undefined) throw new GoneError()
    return rows
  }

  return {
    rows: (grain: Grain): readonly ChartRow[] | undefined => read.get(grain),
    provisionalFrom: (grain: Grain): string | undefined => files[grain]?.provisional_from,
    /** Undefined if the table is being read already. */
    load: (grain: Grain): Promise<void> | undefined => (underWay.has(grain) ? undefined : fetchRows(grain)),
  }
}

/** Undefined if the file is gone. */
async function fetchIfAny(path: string): Promise<ArrayBuffer | undefined> {
  const answer = await fetch(path)
  if (GONE.includes(answer.status)) return undefined
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
  return answer.arrayBuffer()
}

export type Tables = ReturnType<typeof tables>

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
