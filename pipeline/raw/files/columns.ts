import { CsvError, parse } from 'csv-parse/sync'
import type { Database } from '../../base/database.ts'
import { BuildError } from '../../base/errors.ts'
import { nearest } from '../../contract/nearest.ts'
import { ownText } from '../schemas/mapping.ts'
import { fileColumn, schemaOf } from '../schemas/of-source.ts'
import { neededColumns, type Schema, schemaColumns, type UsageRecord } from '../schemas/schema.ts'
import type { Source } from '../sources.ts'
import { readHead } from './decompress.ts'
import type { InputFile } from './find.ts'
import { MADE_DATE } from './path-columns.ts'

/** The columns of one file. `types` are DuckDB's for Parquet and VARCHAR for text. */
export interface FileColumns {
  names: string[]
  types: string[]
  delimiter: string
}

/** Replaces DuckDB's type of a decimal with too many digits, which DuckDB reads as garbage. */
const WIDE_DECIMAL = 'DECIMAL of more than 38 digits'

const USUAL_HEADER_BYTES = 16_384
const LONGEST_HEADER_BYTES = 1_048_576
/** Characters of an error: a file that is no CSV may begin with anything. */
const LONGEST_LIST = 1000
const DELIMITERS = [',', ';', '\t', '|']

export function sourceColumns(source: Source): string[] {
  return schemaColumns(schemaOf(source)).map((column) => fileColumn(source, column))
}

/** The paths, in the source's files, of fields of a `UsageRecord`. */
export function recordPaths(source: Source, fields: readonly (keyof UsageRecord)[]): string[] {
  const { record }: Schema = schemaOf(source)
  const paths = new Set(fields.flatMap((field) => record[field]?.paths ?? []))
  return [...paths].map((path) => {
    const name = fileColumn(source, path)
    return name === path ? path.replace(/^[^.[/]+/, (column) => fileColumn(source, column)) : name
  })
}

/**
 * Reads a CSV header; undefined for an empty file. Picks the delimiter that yields the most `wanted` names, then the
 * most names. Throws `BuildError` for a broken header.
 */
export async function readCsvColumns(file: InputFile, wanted: readonly string[]): Promise<FileColumns | undefined> {
  const header = file.header ?? (await readHeader(file))
  if (header.replace(/^\ufeff/, '') === '') return undefined
  const columns = columnsOfHeader(header, wanted)
  if (columns === undefined) throw new BuildError(`${file.name}, line 1: the header is not valid CSV`)
  if (columns.names.length > MOST_COLUMNS)
    throw new BuildError(
      `${file.name} has more than ${MOST_COLUMNS} columns, the most that are read; leave out those that no schema needs`,
    )
  if (columns.names.some((name) => name.includes('\0'))) throw new BuildError(`${file.name} is binary, not CSV`)
  return columns
}

/** The header, with what is behind it where its end is not certain. Empty for an empty file. */
async function readHeader(file: InputFile): Promise<string> {
  const head = await readHead(file, USUAL_HEADER_BYTES)
  const header = wholeHeader(head.toString('utf8').replace(/^\ufeff/, ''))
  if (header !== undefined) return header
  return (head.length < USUAL_HEADER_BYTES ? head : await readHead(file, LONGEST_HEADER_BYTES)).toString('utf8')
}

/**
 * The first line of a head, if it is all of the header whatever the delimiter: it ends within the head, and not within
 * quotes.
 */
export function wholeHeader(head: string): string | undefined {
  const [line] = /^[^\r\n\ufeff]+(?=\n|\r[\s\S])/.exec(head) ?? []
  const quotes = line?.match(/"/g)?.length ?? 0
  return quotes % 2 === 0 ? line : undefined
}

/** More would take minutes, and memory for each in every record. */
const MOST_COLUMNS = 10_000

/** The columns of headers, which are the same in thousands of files. */
const KNOWN_HEADERS = new Map<string, FileColumns | undefined>()
const MOST_KNOWN_HEADERS = 100

function columnsOfHeader(header: string, wanted: readonly string[]): FileColumns | undefined {
  const key = JSON.stringify([wanted, header])
  if (KNOWN_HEADERS.has(key)) return KNOWN_HEADERS.get(key)
  const headers = DELIMITERS.flatMap((delimiter) => {
    const names = parseFirstRecord(header, delimiter)
    return names === undefined ? [] : [{ delimiter, names: names.map((name) => name.replaceAll(/\r\n?/g, '\n')) }]
  })
  const known = (names: readonly string[]) => names.filter((name) => wanted.includes(name)).length
  const [best] = headers.sort((a, b) => known(b.names) - known(a.names) || b.names.length - a.names.length)
  const columns = best && { ...best, types: best.names.map(() => 'VARCHAR') }
  if (KNOWN_HEADERS.size >= MOST_KNOWN_HEADERS) KNOWN_HEADERS.clear()
  if (header.length <= USUAL_HEADER_BYTES) KNOWN_HEADERS.set(key, columns)
  return columns
}

export async function delimiterOf(file: InputFile, wanted: readonly string[]): Promise<string> {
  return (await readCsvColumns(file, wanted))?.delimiter ?? ','
}

/** The fields of the first record, or undefined if quotes are misplaced for this delimiter. */
export function parseFirstRecord(text: string, delimiter: string): string[] | undefined {
  try {
    const [fields] = parse(text, { bom: true, delimiter, to: 1, relax_column_count: true }) as string[][]
    return fields ?? []
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
}

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
 * The position of each schema column that a file has. Those in its path have none. Throws `BuildError` that names file,
 * schema and column if a needed or renamed column is missing or a column is there twice.
 */
export function locateColumns(source: Source, file: InputFile, names: readonly string[]): Map<string, number> {
  const positions = new Map<string, number>()
  const inPath = Object.keys(file.columns ?? {})
  for (const column of schemaColumns(schemaOf(source))) {
    const name = fileColumn(source, column)
    if (inPath.includes(name)) continue
    const position = names.indexOf(name)
    if (position >= 0 && names.includes(name, position + 1)) {
      throw new BuildError(`${file.name} has two columns ${JSON.stringify(name)}; rename one`)
    }
    if (position >= 0) positions.set(column, position)
  }
  const isMade = (name: string) => name === 'date' && inPath.includes(MADE_DATE)
  const isInPath = (name: string) => inPath.includes(name) || isMade(name)
  const has = (column: string) => positions.has(column) || isInPath(fileColumn(source, column))
  const missing = wantedColumns(source).find((choice) => !choice.some(has))
  if (missing !== undefined) {
    const taken = new Set(positions.values())
    const free = names.filter((_, position) => !taken.has(position))
    throw new BuildError(missingColumn(source, file, missing, { names: [...names, ...inPath], free }))
  }
  return positions
}

/** Throws `BuildError` if a column that must be exact has a floating type: its sums are already rounded. */
export function checkExact(source: Source, file: InputFile, { names, types }: FileColumns): void {
  const { exact = [] }: Schema = schemaOf(source)
  for (const name of exact.map((column) => fileColumn(source, column))) {
    const type = types[names.indexOf(name)] ?? ''
    if (!['FLOAT', 'DOUBLE'].includes(type)) continue
    throw new BuildError(
      `${file.name}: ${JSON.stringify(name)} is ${type}, which rounds large sums; CAST it to DECIMAL(38, 0) where it is written`,
    )
  }
}

function wantedColumns(source: Source): (readonly string[])[] {
  const schema = schemaOf(source)
  const known = schemaColumns(schema)
  const named = Object.keys(source.columns).filter((column) => known.includes(column))
  return [...neededColumns(schema, source.model !== undefined), ...named.map((column) => [column])]
}

/** `free`: names that no schema column uses, which may be the missing one. */
function missingColumn(
  source: Source,
  file: InputFile,
  choice: readonly string[],
  { names, free }: { names: readonly string[]; free: readonly string[] },
): string {
  const wanted = choice.map((column) => fileColumn(source, column))
  const meant = wanted.map((name) => nearest(name, free)).find((name) => name !== undefined)
  const hint = meant === undefined ? '.' : `; is it ${JSON.stringify(meant)}?`
  const isOwn = choice.every((column) => ownText(column) !== undefined)
  const who = isOwn ? `source ${JSON.stringify(source.name)} reads` : `schema ${source.schema} needs`
  const map = wanted.every((name) => choice.includes(name))
    ? ` Say in "columns" how the file calls ${choice.join(' or ')}.`
    : ''
  const which = wanted.map((name) => JSON.stringify(name)).join(' or ')
  const known = names.join(', ')
  const listed = known.length > LONGEST_LIST ? `${known.slice(0, LONGEST_LIST)}…` : `${known}.`
  return `${file.name} has no column ${which}, which ${who}${hint} It has: ${listed}${map}`
}
