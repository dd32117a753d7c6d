import { CsvError, parse } from 'csv-parse/sync'
import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { CANONICAL_COLUMNS, type CanonicalColumn, REQUIRED_COLUMNS, type Source } from '../sources.ts'
import { readHead } from './decompress.ts'
import type { InputFile } from './find.ts'

/** The columns of one file. `names` are as in the file, `types` DuckDB's for Parquet and VARCHAR for text. */
export interface FileColumns {
  names: string[]
  types: string[]
  delimiter: string
}

/** In place of the type that DuckDB gives a decimal of more digits than it has: it reads such a column as nonsense. */
const WIDE_DECIMAL = 'DECIMAL of more than 38 digits'

const LONGEST_HEADER_BYTES = 1_048_576
const DELIMITERS = [',', ';', '\t', '|']

/** The name that a canonical column has in the files of a source. */
export function fileColumn(source: Source, column: CanonicalColumn): string {
  return source.columns[column] ?? column
}

/** Reads the header of a CSV file, or undefined when the file is empty. Throws `BuildError` for a broken header. */
export async function readCsvColumns(file: InputFile, source: Source): Promise<FileColumns | undefined> {
  const head = (await readHead(file, LONGEST_HEADER_BYTES)).toString('utf8')
  if (head.replace(/^\ufeff/, '') === '') return undefined
  const headers = DELIMITERS.flatMap((delimiter) => {
    const names = parseFirstRecord(head, delimiter)
    return names === undefined ? [] : [{ delimiter, names }]
  })
  const wanted = CANONICAL_COLUMNS.map((column) => fileColumn(source, column))
  const known = (names: readonly string[]) => names.filter((name) => wanted.includes(name)).length
  const [best] = headers.sort((a, b) => known(b.names) - known(a.names))
  if (best === undefined) throw new BuildError(`${file.name}, line 1: the header is no line of CSV`)
  return { ...best, types: best.names.map(() => 'VARCHAR') }
}

/** The fields of the first record of a text, or undefined when quotes are out of place for this delimiter. */
export function parseFirstRecord(text: string, delimiter: string): string[] | undefined {
  try {
    const [fields] = parse(text, { bom: true, delimiter, to: 1, relax_column_count: true }) as string[][]
    return fields ?? []
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
}

/** Reads the columns of a Parquet file from its footer. */
export async function readParquetColumns(database: Database, path: string): Promise<FileColumns> {
  const columns = await database.rows<{ column_name: string; column_type: string }>('ingest_parquet_columns', { path })
  const wide = await database.rows<{ name: string }>('ingest_parquet_wide_decimals', { path })
  return {
    names: columns.map((column) => column.column_name),
    types: columns.map(({ column_name, column_type }) =>
      wide.some(({ name }) => name === column_name) ? WIDE_DECIMAL : column_type,
    ),
    delimiter: '',
  }
}

/**
 * Where each canonical column lies in a file, by position. Optional columns that the file has not are absent.
 * Throws `BuildError`, naming file and column, for one that is required or was renamed and is missing or doubled.
 */
export function locateColumns(source: Source, file: InputFile, names: readonly string[]): Map<CanonicalColumn, number> {
  const positions = new Map<CanonicalColumn, number>()
  for (const column of CANONICAL_COLUMNS) {
    const name = fileColumn(source, column)
    const position = names.indexOf(name)
    if (position >= 0 && names.includes(name, position + 1)) {
      throw new BuildError(`${file.name} has two columns ${JSON.stringify(name)}; rename one`)
    }
    if (position >= 0) positions.set(column, position)
    else if (isNeeded(source, column)) throw new BuildError(missingColumn(file, column, name, names))
  }
  return positions
}

/** Whether a file without the column cannot be read. */
export function isNeeded(source: Source, column: CanonicalColumn): boolean {
  if (column === 'model_permaslug' && source.model !== undefined) return false
  return source.columns[column] !== undefined || REQUIRED_COLUMNS.includes(column)
}

function missingColumn(file: InputFile, column: CanonicalColumn, name: string, names: readonly string[]): string {
  const meant = nearest(name, names)
  const hint = meant === undefined ? '.' : `; is it ${JSON.stringify(meant)}?`
  const map = name === column ? ` Say in "columns" how the file calls ${column}.` : ''
  return `${file.name} has no column ${JSON.stringify(name)}${hint} It has: ${names.join(', ')}.${map}`
}
