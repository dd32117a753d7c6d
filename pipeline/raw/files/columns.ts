import { CsvError, parse } from 'csv-parse/sync'
import type { Database } from '../../base/database.ts'
import { BuildError } from '../../base/errors.ts'
import { nearest } from '../../contract/nearest.ts'
import { SCHEMAS } from '../schemas/index.ts'
import { neededColumns, type Schema, schemaColumns, type UsageRecord } from '../schemas/schema.ts'
import type { Source } from '../sources.ts'
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

/** The name that a column of the source's schema has in its files. */
export function fileColumn(source: Source, column: string): string {
  return source.columns[column] ?? column
}

/** The names that the columns of the source's schema have in its files. */
export function sourceColumns(source: Source): string[] {
  return schemaColumns(SCHEMAS[source.schema]).map((column) => fileColumn(source, column))
}

/** The names that the needed columns behind fields of a `UsageRecord` have in the files of a source. */
export function recordColumns(source: Source, fields: readonly (keyof UsageRecord)[]): string[] {
  const { record }: Schema = SCHEMAS[source.schema]
  const columns = fields.flatMap((field) => record[field]?.needs.flat() ?? [])
  return [...new Set(columns)].map((column) => fileColumn(source, column))
}

/**
 * Reads the header of a CSV file, or undefined when the file is empty. Its delimiter is the one with which it has the most
 * of the `wanted` names, or else the most names. Throws `BuildError` for a broken header.
 */
export async function readCsvColumns(file: InputFile, wanted: readonly string[]): Promise<FileColumns | undefined> {
  const head = (await readHead(file, LONGEST_HEADER_BYTES)).toString('utf8')
  if (head.replace(/^\ufeff/, '') === '') return undefined
  const headers = DELIMITERS.flatMap((delimiter) => {
    const names = parseFirstRecord(head, delimiter)
    return names === undefined ? [] : [{ delimiter, names }]
  })
  const known = (names: readonly string[]) => names.filter((name) => wanted.includes(name)).length
  const [best] = headers.sort((a, b) => known(b.names) - known(a.names) || b.names.length - a.names.length)
  if (best === undefined) throw new BuildError(`${file.name}, line 1: the header is no line of CSV`)
  return { ...best, types: best.names.map(() => 'VARCHAR') }
}

/** The delimiter of a CSV file; any will do for an empty one. */
export async function delimiterOf(file: InputFile, wanted: readonly string[]): Promise<string> {
  return (await readCsvColumns(file, wanted))?.delimiter ?? ','
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
  const columns = await database.rows<{ column_name: string; column_type: string }>('parquet/columns', { path })
  const wide = await database.rows<{ name: string }>('parquet/wide_decimals', { path })
  return {
    names: columns.map((column) => column.column_name),
    types: columns.map(({ column_name, column_type }) =>
      wide.some(({ name }) => name === column_name) ? WIDE_DECIMAL : column_type,
    ),
    delimiter: '',
  }
}

/**
 * Where each column of the source's schema lies in a file, by position. Columns that the file has not are absent.
 * Throws `BuildError`, naming file, schema and column, for one that is needed or was renamed and is missing, and for one
 * that the file has twice.
 */
export function locateColumns(source: Source, file: InputFile, names: readonly string[]): Map<string, number> {
  const positions = new Map<string, number>()
  for (const column of schemaColumns(SCHEMAS[source.schema])) {
    const name = fileColumn(source, column)
    const position = names.indexOf(name)
    if (position >= 0 && names.includes(name, position + 1)) {
      throw new BuildError(`${file.name} has two columns ${JSON.stringify(name)}; rename one`)
    }
    if (position >= 0) positions.set(column, position)
  }
  const missing = wantedColumns(source).find((choice) => !choice.some((column) => positions.has(column)))
  if (missing !== undefined) {
    const taken = new Set(positions.values())
    const free = names.filter((_, position) => !taken.has(position))
    throw new BuildError(missingColumn(source, file, missing, { names, free }))
  }
  return positions
}

/** Throws `BuildError` for a column of a floating type that has to be exact: how it was rounded nobody knows any more. */
export function assertExact(source: Source, file: InputFile, { names, types }: FileColumns): void {
  const { exact = [] }: Schema = SCHEMAS[source.schema]
  for (const name of exact.map((column) => fileColumn(source, column))) {
    const type = types[names.indexOf(name)] ?? ''
    if (!['FLOAT', 'DOUBLE'].includes(type)) continue
    throw new BuildError(
      `${file.name}: ${JSON.stringify(name)} is ${type}, which rounds large sums; CAST it to DECIMAL(38, 0) where it is written`,
    )
  }
}

/** Sets of columns of which each file must have one: what the schema needs, and what the source renames. */
function wantedColumns(source: Source): (readonly string[])[] {
  const renamed = Object.keys(source.columns).map((column) => [column])
  return [...neededColumns(SCHEMAS[source.schema], source.model !== undefined), ...renamed]
}

/** `free` are those of the names that no column of the schema has: it may be one of these. */
function missingColumn(
  source: Source,
  file: InputFile,
  choice: readonly string[],
  { names, free }: { names: readonly string[]; free: readonly string[] },
): string {
  const wanted = choice.map((column) => fileColumn(source, column))
  const meant = wanted.map((name) => nearest(name, free)).find((name) => name !== undefined)
  const hint = meant === undefined ? '.' : `; is it ${JSON.stringify(meant)}?`
  const map = wanted.every((name) => choice.includes(name))
    ? ` Say in "columns" how the file calls ${choice.join(' or ')}.`
    : ''
  const which = wanted.map((name) => JSON.stringify(name)).join(' or ')
  return `${file.name} has no column ${which}, which schema ${source.schema} needs${hint} It has: ${names.join(', ')}.${map}`
}
