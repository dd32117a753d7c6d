import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { CANONICAL_COLUMNS, type CanonicalColumn, type Source } from '../sources.ts'
import { type FileColumns, fileColumn, locateColumns, readCsvColumns, readParquetColumns } from './columns.ts'
import type { Compression, Format } from './find.ts'
import { asRead, type CsvReading, type LinkedFile } from './link.ts'

/** Files of a source that one query can read: the same format, compression, delimiter, columns and way to read them. */
export interface InputGroup {
  source: Source
  format: Format
  compression: Compression
  csvReading: CsvReading
  delimiter: string
  /** DuckDB's type of each column of the files, in their order; empty for NDJSON, whose lines have no order. */
  types: readonly string[]
  /** Where the canonical columns lie: positions for CSV and Parquet, positions in `pointers` for NDJSON. */
  positions: ReadonlyMap<CanonicalColumn, number>
  /** JSON pointers of the canonical columns (RFC 6901), for NDJSON. */
  pointers: readonly string[]
  files: LinkedFile[]
}

/** Puts the files of a source into groups, reading each header. Empty CSV files are in no group. */
export async function groupFiles(
  database: Database,
  source: Source,
  files: readonly LinkedFile[],
): Promise<InputGroup[]> {
  const groups = new Map<string, InputGroup>()
  for (const file of files) {
    const group = await describeGroup(database, source, file)
    if (group === undefined) continue
    const { format, compression, csvReading, delimiter, types, positions } = group
    const key = JSON.stringify([format, compression, csvReading, delimiter, types, [...positions]])
    const existing = groups.get(key)
    if (existing === undefined) groups.set(key, group)
    else existing.files.push(file)
  }
  return [...groups.values()]
}

async function describeGroup(database: Database, source: Source, file: LinkedFile): Promise<InputGroup | undefined> {
  const { format, compression, csvReading } = file
  if (format === 'ndjson') {
    const positions = new Map(CANONICAL_COLUMNS.map((column, position) => [column, position]))
    const pointers = CANONICAL_COLUMNS.map((column) => jsonPointer(fileColumn(source, column)))
    return { source, format, compression, csvReading, delimiter: '', types: [], positions, pointers, files: [file] }
  }
  const columns = await readColumns(database, source, file)
  if (columns === undefined) return undefined
  const positions = locateColumns(source, file, columns.names)
  const { delimiter, types } = columns
  return { source, format, compression, csvReading, delimiter, types, positions, pointers: [], files: [file] }
}

async function readColumns(database: Database, source: Source, file: LinkedFile): Promise<FileColumns | undefined> {
  if (file.format === 'csv') return readCsvColumns(asRead(file), source)
  try {
    return await readParquetColumns(database, file.link)
  } catch (error) {
    if (error instanceof BuildError) throw error
    const reason = error instanceof Error ? error.message.replaceAll(file.link, file.name) : String(error)
    throw new BuildError(`${file.name} cannot be read whole: ${reason}`)
  }
}

function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
