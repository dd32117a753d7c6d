import type { Database } from '../../base/database.ts'
import { BuildError, reasonOf } from '../../base/errors.ts'
import { levelOf } from '../schemas/compile.ts'
import { jsonPointer } from '../schemas/expression.ts'
import { fileColumn, levelsOf, listsOf, mayBeUnwrapped, schemaOf } from '../schemas/of-source.ts'
import { schemaColumns } from '../schemas/schema.ts'
import type { Source } from '../sources.ts'
import {
  checkExact,
  type FileColumns,
  locateColumns,
  readCsvColumns,
  readParquetColumns,
  sourceColumns,
} from './columns.ts'
import type { Compression, Format } from './find.ts'
import { asRead, type CsvReading, type LinkedFile } from './link.ts'
import { LONGEST_RECORD } from './split.ts'

/** Files of a source that one query can read, because they have the same format and columns. */
export interface InputGroup {
  source: Source
  format: Format
  compression: Compression
  csvReading: CsvReading
  readsAllColumns: boolean
  delimiter: string
  /** DuckDB's column types, in order. Empty for NDJSON. */
  types: readonly string[]
  positions: ReadonlyMap<string, number>
  /** Columns that are in the path of each file. They win over columns of that name in the file. */
  pathColumns: readonly string[]
  /** For NDJSON: JSON pointers (RFC 6901) of the schema's columns, by the level that they are at. */
  pointers: readonly (readonly string[])[]
  /** The lists that the records are in, the outermost first. */
  lists: readonly string[]
  /** Whether a line without the list is a record itself. */
  mayBeUnwrapped: boolean
  /** Of Parquet: whether the footers say that every record has a value, not empty, in the column of its id. */
  areIdentified: boolean
  files: LinkedFile[]
}

export interface GroupedFile {
  group: InputGroup
  file: LinkedFile
}

export function regroup(files: readonly GroupedFile[]): InputGroup[] {
  const byGroup = Map.groupBy(files, ({ group }) => group)
  return [...byGroup].map(([group, members]) => ({ ...group, files: members.map(({ file }) => file) }))
}

/** Groups the files of a source by format and columns. Empty CSV files are in no group. */
export async function groupFiles(
  database: Database,
  source: Source,
  files: readonly LinkedFile[],
): Promise<InputGroup[]> {
  const groups = new Map<string, InputGroup>()
  const schemas = await readParquetSchemas(database, files)
  const identified = await readIdentified(
    database,
    source,
    files.filter(({ link }) => schemas.has(link)),
  )
  const known = new Map<string, FileColumns>()
  const columnsOf = async (file: LinkedFile, wanted: readonly string[]) => {
    const schema = schemas.get(file.link)
    const alike = schema === undefined ? undefined : known.get(schema)
    const columns = alike ?? (await readColumns(database, file, wanted))
    if (schema !== undefined && columns !== undefined) known.set(schema, columns)
    return columns
  }
  for (const file of files) {
    const described = await describeGroup(source, file, columnsOf)
    if (described === undefined) continue
    const group = { ...described, areIdentified: identified.has(file.link) }
    const { format, compression, csvReading, readsAllColumns, delimiter, types, positions, pathColumns } = group
    const columns = [delimiter, types, [...positions], pathColumns, group.areIdentified]
    const key = JSON.stringify([format, compression, csvReading, readsAllColumns, ...columns])
    const existing = groups.get(key)
    if (existing === undefined) groups.set(key, group)
    else existing.files.push(file)
  }
  return [...groups.values()]
}

/** Files of one statement: a statement for each is slow, and one for all of thousands takes much memory. */
const FILES_AT_ONCE = 1000

/** The Parquet schema of each Parquet file. */
async function readParquetSchemas(
  database: Database,
  files: readonly LinkedFile[],
): Promise<ReadonlyMap<string, string>> {
  const paths = files.filter(({ format }) => format === 'parquet').map(({ link }) => link)
  const schemas = new Map<string, string>()
  // Equal texts are kept once.
  const distinct = new Map<string, string>()
  try {
    for (let start = 0; start < paths.length; start += FILES_AT_ONCE) {
      const some = { paths: paths.slice(start, start + FILES_AT_ONCE) }
      for (const { link, schema } of await database.rows<{ link: string; schema: string }>('parquet/schemas', some)) {
        if (!distinct.has(schema)) distinct.set(schema, schema)
        schemas.set(link, distinct.get(schema) ?? schema)
      }
    }
    return schemas
  } catch (error) {
    const file = files.find(({ link }) => reasonOf(error).includes(link))
    if (file !== undefined) throw notWhole(file, error)
    // Some errors do not name their file. Reading each file by itself finds it.
    return new Map()
  }
}

/** To read the footer of a smaller file takes longer than to count its ids. */
const LEAST_BYTES_TO_ASK = 1_000_000

/** Those of some Parquet files that are large and have an id, not empty, in every record. */
async function readIdentified(
  database: Database,
  source: Source,
  files: readonly LinkedFile[],
): Promise<ReadonlySet<string>> {
  const [column, ...others] = schemaOf(source).record.request_id?.columns ?? []
  if (column === undefined || others.length > 0) return new Set()
  const large = files.filter(({ bytes }) => bytes >= LEAST_BYTES_TO_ASK)
  const links = new Set<string>()
  for (let start = 0; start < large.length; start += FILES_AT_ONCE) {
    const paths = large.slice(start, start + FILES_AT_ONCE).map(({ link }) => link)
    const asked = { paths, column: fileColumn(source, column) }
    for (const { link } of await database.rows<{ link: string }>('parquet/identified', asked)) links.add(link)
  }
  return links
}

async function describeGroup(
  source: Source,
  file: LinkedFile,
  columnsOf: (file: LinkedFile, wanted: readonly string[]) => Promise<FileColumns | undefined>,
): Promise<Omit<InputGroup, 'areIdentified'> | undefined> {
  const { format, compression, csvReading, readsAllColumns } = file
  const pathColumns = Object.keys(file.columns ?? {}).sort()
  const common = { source, format, compression, csvReading, readsAllColumns, pathColumns, files: [file] }
  const names = sourceColumns(source)
  if (format === 'ndjson') {
    const columns = jsonColumns(source)
    checkPages(file, columns.lists)
    return { ...common, delimiter: '', types: [], ...columns }
  }
  checkNoLists(source, file)
  const columns = await columnsOf(file, names)
  if (columns === undefined) return undefined
  const positions = locateColumns(source, file, columns.names)
  checkExact(source, file, columns)
  const { delimiter, types } = columns
  return { ...common, delimiter, types, positions, pointers: [], lists: [], mayBeUnwrapped: true }
}

/** Where the columns are in lines of JSON: those of outer levels first. */
function jsonColumns(source: Source): Pick<InputGroup, 'positions' | 'pointers' | 'lists' | 'mayBeUnwrapped'> {
  const lists = listsOf(source)
  const columns = schemaColumns(schemaOf(source)).map((column) => ({ column, ...levelOf(fileColumn(source, column)) }))
  const levels = levelsOf(lists)
  const deepest = levels.length - 1
  const byLevel = levels.map((prefix, depth) =>
    columns.filter(({ level }) => level === prefix || (level === '' && depth === deepest)),
  )
  const placed = byLevel.flat().map(({ column }, position) => [column, position] as const)
  return {
    positions: new Map(placed),
    pointers: byLevel.map((own) => own.map(({ rest }) => jsonPointer(rest))),
    lists,
    mayBeUnwrapped: mayBeUnwrapped(source),
  }
}

/** A record that is too long is rejected alone, but a page that is too long has many records. */
function checkPages({ name, lines }: LinkedFile, [list]: readonly string[]): void {
  if (list === undefined || lines === undefined || lines.tooLong === 0) return
  throw new BuildError(
    `${name} has a document longer than ${LONGEST_RECORD}, whose records are in the list ${list}: save smaller pages, or cut it ` +
      `with jq -c '.${list}[] as $each | .${list} = [$each]'`,
  )
}

function checkNoLists(source: Source, { name, format }: LinkedFile): void {
  if (source.unnest === undefined) return
  throw new BuildError(
    `${name} is ${format}, but source ${JSON.stringify(source.name)} has its records in lists, which only JSON has`,
  )
}

/** The columns of a CSV or Parquet file; undefined if it is empty. Throws `BuildError` if it cannot be read. */
export async function readColumns(
  database: Database,
  file: LinkedFile,
  wanted: readonly string[],
): Promise<FileColumns | undefined> {
  if (file.format === 'csv') return readCsvColumns(asRead(file), wanted)
  try {
    return await readParquetColumns(database, file.link)
  } catch (error) {
    if (error instanceof BuildError) throw error
    throw notWhole(file, error)
  }
}

function notWhole({ name, link }: LinkedFile, error: unknown): BuildError {
  return new BuildError(`${name} cannot be read whole: ${reasonOf(error).replaceAll(link, name)}`)
}
