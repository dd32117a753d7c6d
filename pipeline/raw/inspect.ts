import { writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import { withTemporaryFolder } from '../base/scratch.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { DATASET_START } from '../contract/utc-date.ts'
import { lastCredibleDate, setCredibleDates } from './credible-dates.ts'
import { delimiterOf } from './files/columns.ts'
import { openInput, readHead } from './files/decompress.ts'
import { describeFile, foldersOf, type InputFile, isFile } from './files/find.ts'
import { groupFiles, type InputGroup, readColumns } from './files/group.ts'
import { jsonLines, newShape } from './files/line-shape.ts'
import { type LinkedFile, linkParquet, UNKNOWN } from './files/link.ts'
import { recognize } from './files/recognize.ts'
import { splitCsv } from './files/split.ts'
import { defineSample, defineUsage } from './ingest.ts'
import { SCHEMA_NAMES, SCHEMAS, type SchemaName } from './schemas/index.ts'
import { listsOf } from './schemas/of-source.ts'
import { neededColumns, type Schema, schemaColumns } from './schemas/schema.ts'
import { renamesToCanonical } from './schemas/synonyms.ts'
import { slugProblem } from './slug.ts'
import { Source } from './sources.ts'

const RECORDS_READ = 100
const RECORDS_SHOWN = 10
/** Of a CSV file. More than are read: malformed records do not count. */
const RECORDS_COPIED = 1_000
const BYTES_READ = 16 * 1_048_576

/** Placeholders in a proposed source, which the maintainer must replace. */
const MODEL_TO_SAY = 'author/model'
const BASE_TIME_TO_SAY = '2025-01-01T00:00:00Z'

/** Numbers from these on are read as Unix time: the first is in March 1973, the second in September 2001. */
const UNIX_MILLISECONDS = 1e11
const UNIX_SECONDS = 1e9
const UNIX_EPOCH = '1970-01-01T00:00:00Z'

const LINE_FEED = Buffer.from('\n')

const KNOWN_COLUMNS = SCHEMA_NAMES.flatMap((name) => schemaColumns(SCHEMAS[name]))

export interface MappedRecord extends Record<string, string | boolean | null> {
  date: string | null
  model: string | null
  prompt_tokens: string | null
  completion_tokens: string | null
  has_request_id: boolean
  reject_reason: string | null
}

type SourceEntry = Pick<Source, 'name' | 'schema' | 'files'> &
  Partial<Pick<Source, 'columns' | 'model' | 'base_time' | 'time_unit'>>

interface Column {
  name: string
  sample: string
}

/** What a file seems to be. If no schema fits, `records` is empty and `source` is undefined. */
export interface Inspection {
  file: string
  format: InputFile['format']
  columns: Column[]
  schema: Source['schema'] | undefined
  records: MappedRecord[]
  source: SourceEntry | undefined
  notes: string[]
}

/**
 * Guesses the schema of raw files from their first records, without touching the state. Throws `CliError` if a file
 * is missing or has an unknown ending, `BuildError` if it cannot be read.
 */
export async function inspect(paths: readonly string[], effects: InspectEffects): Promise<Inspection[]> {
  const files = await sideBySide(paths, describeGiven)
  return withFiles(files, effects, async (database, folder) => {
    const inspections: Inspection[] = []
    for (const [position, file] of files.entries()) {
      const linked = await linkBeginning(file, join(folder, `${position}.${file.format}`))
      inspections.push(await inspectFile(database, linked))
    }
    return inspections
  })
}

export type InspectEffects = Pick<Effects, 'now' | 'signal'>

/** Runs `work` with a database that has access to the folders of `files` and to one of its own, and to nothing else. */
export async function withFiles<Result>(
  files: readonly InputFile[],
  { now, signal }: InspectEffects,
  work: (database: Database, folder: string) => Promise<Result>,
): Promise<Result> {
  return withTemporaryFolder('inspect', async (folder) => {
    const temporaryFolder = join(folder, 'spill')
    const database = await Database.open({ path: ':memory:', temporaryFolder, memoryLimit: undefined, signal })
    try {
      await database.run('inspect/keep_order')
      await setCredibleDates(database, lastCredibleDate(now()))
      await database.confine([folder, ...(await foldersOf(files))])
      return await work(database, folder)
    } finally {
      database.close()
    }
  })
}

/** Throws `CliError` if the file is missing or has an unknown ending. */
export async function describeGiven(path: string): Promise<InputFile> {
  if (!(await isFile(path))) throw new CliError(`there is no file ${path}`)
  return recognize(await describeFile(resolve(path), path))
}

/** Copies the first records of a text file: only a scan of all of it would find what DuckDB misreads. */
async function linkBeginning(file: InputFile, link: string): Promise<LinkedFile> {
  if (file.format === 'parquet') return linkParquet(file, link)
  const beginning = file.format === 'csv' ? await firstOfCsv(file) : await firstOfJson(file)
  await writeFile(link, beginning)
  return { ...file, ...UNKNOWN, link, compression: 'uncompressed', layers: undefined }
}

async function firstOfCsv(file: InputFile): Promise<Buffer> {
  const head = await readHead(file, BYTES_READ)
  const batches = splitCsv(Readable.from([head]), await delimiterOf(file, KNOWN_COLUMNS))
  const records = (await Array.fromAsync(batches)).flat()
  if (head.length === BYTES_READ) records.pop()
  return Buffer.concat(records.slice(0, RECORDS_COPIED).flatMap((record) => [record, LINE_FEED]))
}

/** Whole lines. */
async function firstOfJson(file: InputFile): Promise<Buffer> {
  const lines: Buffer[] = []
  let bytes = 0
  for await (const chunk of jsonLines(file, openInput(file), newShape())) {
    lines.push(chunk)
    bytes += chunk.length
    if (bytes >= BYTES_READ) break
  }
  return Buffer.concat(lines)
}

async function inspectFile(database: Database, file: LinkedFile): Promise<Inspection> {
  try {
    const columnsIn = await readSample(database, file)
    const known = { file: file.name, format: file.format }
    const problems: string[] = []
    const allLeftOut: Inspection[] = []
    for (const source of proposals(file, columnsIn)) {
      const records = await mapRecords(database, source, file)
      if (typeof records === 'string') problems.push(records)
      else if (records.some(isRead)) {
        const [shown, columns] = [records.slice(0, RECORDS_SHOWN), columnsIn(source.schema)]
        const notes = notesOn(source, records)
        const found = { ...known, columns, schema: source.schema, records: shown, source, notes }
        if (records.some(({ reject_reason }) => reject_reason === null)) return found
        allLeftOut.push(found)
      }
    }
    const [found] = allLeftOut
    if (found !== undefined) return found
    const notes = problems.length > 0 ? problems : [whatIsMissing(columnsIn)]
    return { ...known, columns: columnsIn('canonical'), schema: undefined, records: [], source: undefined, notes }
  } catch (error) {
    if (!(error instanceof Error) || error instanceof BuildError || error.name === 'AbortError') throw error
    throw new BuildError(`${file.name} cannot be read: ${reasonOf(error).replaceAll(file.link, file.name)}`)
  }
}

const isRead = ({ reject_reason }: MappedRecord) => reject_reason === null || reject_reason === 'left_out'

/** The columns of the records, which a schema may have in lists of each line. */
type ColumnsIn = (schema: Source['schema']) => Column[]

async function readSample(database: Database, file: LinkedFile): Promise<ColumnsIn> {
  const header = file.format === 'ndjson' ? undefined : await readColumns(database, file, KNOWN_COLUMNS)
  if (file.format !== 'ndjson' && header === undefined) throw new BuildError(`${file.name} is empty`)
  const { names = [], types = [], delimiter = '' } = header ?? {}
  const source = Source.parse({ name: file.name, schema: 'canonical', files: [file.name] })
  const { format, compression, csvReading, readsAllColumns } = file
  const group: InputGroup = {
    source,
    format,
    compression,
    csvReading,
    readsAllColumns,
    delimiter,
    types,
    positions: new Map(),
    // The whole line. DuckDB does not accept an empty list of pointers.
    pointers: [['']],
    lists: [],
    mayBeUnwrapped: true,
    files: [file],
  }
  await defineSample(database, group)
  const rows = await database.rows<{ fields: (string | null)[] }>('inspect/sample', { records: RECORDS_READ })
  const records = rows.map(({ fields }) => fields)
  if (format !== 'ndjson') {
    const columns = samplesOf(names, records)
    return () => columns
  }
  const lines = records.map(([line = null]): unknown => (line === null || line === '' ? null : JSON.parse(line)))
  const known = new Map<Source['schema'], Column[]>()
  return (schema) => {
    const columns = known.get(schema) ?? keysOf(lines, listsOf({ schema, columns: {} }))
    known.set(schema, columns)
    return columns
  }
}

function samplesOf(names: readonly string[], records: readonly (string | null)[][]): Column[] {
  const filled = (position: number) => records.map((fields) => fields[position] ?? '').find((field) => field !== '')
  return names.map((name, position) => ({ name, sample: filled(position) ?? '' }))
}

function keysOf(lines: readonly unknown[], lists: readonly string[]): Column[] {
  const samples = new Map<string, string>()
  for (const [key, value] of lines.flatMap((line) => membersIn(line, lists))) {
    const sample = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
    if ((samples.get(key) ?? '') === '') samples.set(key, sample)
  }
  return [...samples].map(([name, sample]) => ({ name, sample }))
}

/** The members of the records in a value; those of what stands around them with the level that a path names. */
function membersIn(value: unknown, [list, ...inner]: readonly string[], level = ''): [string, unknown][] {
  const elements = list?.split('.').reduce<unknown>((outer, key) => Object.fromEntries(membersOf(outer))[key], value)
  if (!Array.isArray(elements)) return membersOf(value)
  const around = membersOf(value)
    .filter(([, member]) => member !== elements)
    .map(([key, member]): [string, unknown] => [`${level || '$.'}${key}`, member])
  return [...around, ...elements.flatMap((element) => membersIn(element, inner, `${level}${list}[].`))]
}

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
}

function proposals(file: LinkedFile, columnsIn: ColumnsIn): SourceEntry[] {
  const columns = columnsIn('canonical')
  const names = columns.map((column) => column.name)
  const name = basename(file.name).replace(/\..*$/, '') || 'logs'
  const files = [resolve(file.name)]
  const fitting = SCHEMA_NAMES.filter((schema) => missingColumns(schema, columnsIn).length === 0)
    .sort((a, b) => recognized(b, columnsIn) - recognized(a, columnsIn))
    .map((schema): SourceEntry => ({ name, schema, files }))
  const renamed = renamesToCanonical(names)
  if (renamed !== undefined) {
    const model = renamed.hasModel ? {} : { model: MODEL_TO_SAY }
    fitting.push({ name, schema: 'canonical', files, columns: renamed.columns, ...model })
  }
  return fitting.flatMap((source) => [source, ...relativeTo(source, columnsIn(source.schema))])
}

/** The source with a base time, if its timestamps are numbers that need one; otherwise nothing. */
function relativeTo(source: SourceEntry, columns: readonly Column[]): SourceEntry[] {
  const schema: Schema = SCHEMAS[source.schema]
  const [column = ''] = schema.record.timestamp.columns
  const time = columns.find(({ name }) => name === (source.columns?.[column] ?? column))?.sample ?? ''
  if (schema.hasAbsoluteTime || !/^\d{1,13}(\.\d+)?$/.test(time)) return []
  if (Number(time) >= UNIX_MILLISECONDS) return [{ ...source, base_time: UNIX_EPOCH, time_unit: 'milliseconds' }]
  if (Number(time) >= UNIX_SECONDS) return [{ ...source, base_time: UNIX_EPOCH, time_unit: 'seconds' }]
  return [{ ...source, base_time: BASE_TIME_TO_SAY }]
}

async function mapRecords(database: Database, entry: SourceEntry, file: LinkedFile): Promise<MappedRecord[] | string> {
  try {
    const source = Source.parse(entry)
    const groups = await groupFiles(database, source, [file])
    await defineUsage(database, source, groups)
    const records = await database.rows<MappedRecord>('inspect/records', { records: RECORDS_READ })
    return records.map((record) => ({ ...record, reject_reason: record.reject_reason ?? modelProblem(record) }))
  } catch (error) {
    if (error instanceof BuildError) return error.message
    throw error
  }
}

function modelProblem({ model }: MappedRecord): string | null {
  return slugProblem(model ?? '') === undefined ? null : 'invalid_model'
}

function notesOn({ model, base_time }: SourceEntry, records: readonly MappedRecord[]): string[] {
  const rejected = records.filter((record) => !isRead(record)).length
  const dates = records.flatMap(({ date }) => date ?? [])
  const notes: [boolean, string][] = [
    [model !== undefined, 'no column has the model: name it in "model"'],
    [base_time === BASE_TIME_TO_SAY, 'timestamps are relative: set "base_time" to their start'],
    [rejected > 0, `${rejected} of the first ${records.length} records would be rejected`],
    [dates.every((date) => date < DATASET_START), `the first records are before the dataset begins, ${DATASET_START}`],
    [!records.some((record) => record.has_request_id), 'records have no id: duplicates would count again'],
  ]
  return notes.filter(([applies]) => applies).map(([, note]) => note)
}

function missingColumns(name: SchemaName, columnsIn: ColumnsIn): string[] {
  const names = columnsIn(name).map((column) => column.name)
  const needed = neededColumns(SCHEMAS[name], false)
  return needed
    .filter((choice) => !choice.some((column) => names.includes(column)))
    .map((choice) => choice.join(' or '))
}

function recognized(name: SchemaName, columnsIn: ColumnsIn): number {
  const names = columnsIn(name).map((column) => column.name)
  return schemaColumns(SCHEMAS[name]).filter((column) => names.includes(column)).length
}

function whatIsMissing(columnsIn: ColumnsIn): string {
  const [nearest = 'canonical'] = SCHEMA_NAMES.toSorted((a, b) => recognized(b, columnsIn) - recognized(a, columnsIn))
  const missing = missingColumns(nearest, columnsIn)
  if (missing.length === 0) return `the columns are those of ${nearest}, but none of the first records can be read`
  return `the nearest schema is ${nearest}, which also needs ${missing.join(', ')}`
}
