import { writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError, isInterrupt, reasonOf } from '../base/errors.ts'
import { jsonIfAny } from '../base/json.ts'
import { withTemporaryFolder } from '../base/scratch.ts'
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
import { MAPPINGS, SCHEMA_NAMES, SCHEMAS, type SchemaName } from './schemas/index.ts'
import { fileColumn, listsOf } from './schemas/of-source.ts'
import { neededColumns, type Schema, schemaColumns } from './schemas/schema.ts'
import { columnsToSay, renamesToCanonical } from './schemas/synonyms.ts'
import { slugProblem } from './slug.ts'
import { Source } from './sources.ts'

const RECORDS_READ = 100
const COLUMNS_SHOWN = 30
const SAMPLE_SHOWN = 30
/** Of a CSV file. More than are read: malformed records do not count. */
const RECORDS_COPIED = 1_000
const BYTES_READ = 16 * 1_048_576

/** Placeholders in a proposed source, which the maintainer must replace. */
export const MODEL_TO_SAY = 'author/model'
export const BASE_TIME_TO_SAY = '2025-01-01T00:00:00Z'

/** What a maintainer has to know of a proposed source whose product may log a share of the requests. */
export const SAMPLING_TO_CHECK =
  'the records do not say which share of the requests was logged: keep "sampling_rate": 1 only if all were'

/** Numbers from these on are read as Unix time: the first is in March 1973, the second in September 2001. */
const UNIX_MILLISECONDS = 1e11
const UNIX_SECONDS = 1e9
/** More seconds than two years have: such numbers are milliseconds. */
const MOST_SECONDS = 2 * 366 * 86_400
const UNIX_EPOCH = '1970-01-01T00:00:00Z'

const LINE_FEED = Buffer.from('\n')

const KNOWN_COLUMNS = SCHEMA_NAMES.flatMap((name) => schemaColumns(SCHEMAS[name]))

interface MappedRecord extends Record<string, string | boolean | null> {
  date: string | null
  model: string | null
  has_request_id: boolean
  reject_reason: string | null
}

/** A source as a maintainer would write it. */
export type SourceEntry = Pick<Source, 'name' | 'files'> & { schema: SchemaName } & Partial<
    Pick<Source, 'columns' | 'unnest' | 'hive' | 'model' | 'base_time' | 'time_unit' | 'sampling_rate' | 'note'>
  >

/** The first and the last of relative times that may be seconds or milliseconds. */
export interface Numbers {
  first: number
  last: number
}

interface Column {
  name: string
  sample: string
}

/** What a file seems to be. */
export interface Inspection {
  /** Undefined if no schema fits; `notes` say why. */
  source: SourceEntry | undefined
  /** Whether the timestamps of your own logs have no offset, so that only you know their time zone. */
  lacks_offset: boolean
  /** Set if only you know whether relative times are seconds or milliseconds. */
  numbers?: Numbers
  /** Counts of tokens in your own logs that are not read: they may be outside of the counts that are. */
  unread: string[]
  notes: string[]
}

/** Guesses the schema of one raw file by itself. Throws `BuildError` if the file cannot be read. */
export async function inspect(file: InputFile, effects: InspectEffects): Promise<Inspection> {
  return withFiles([file], effects, (database, folder) => inspectFile(database, file, join(folder, `0.${file.format}`)))
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
      await database.confine([folder, ...foldersOf(files)])
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

/**
 * Guesses the schema of one raw file. If none fits, `others` are tried: sources of the files around it. Throws `BuildError`
 * if the file cannot be read.
 */
export async function inspectFile(
  database: Database,
  given: InputFile,
  link: string,
  others: readonly SourceEntry[] = [],
): Promise<Inspection> {
  const file = await linkBeginning(given, link)
  try {
    const columnsIn = await readSample(database, file)
    const problems: string[] = []
    const rejected: string[] = []
    const allLeftOut: Inspection[] = []
    for (const source of proposals(file, columnsIn)) {
      const records = await mapRecords(database, source, file)
      if (typeof records === 'string') problems.push(records)
      else if (records.some(isRead)) {
        const found = await withUnit(database, file, foundIn(source, records, columnsIn), columnsIn)
        if (records.some(({ reject_reason }) => reject_reason === null)) return found
        allLeftOut.push(found)
      } else rejected.push(...whyRejected(source, records))
    }
    const [found = await firstReading(database, file, others, columnsIn)] = allLeftOut
    if (found !== undefined) return found
    const [why = whatIsMissing(columnsIn)] = rejected
    const notes = problems.length > 0 ? problems : [why, ...howToRead(file, columnsIn)]
    return { source: undefined, lacks_offset: false, unread: [], notes }
  } catch (error) {
    if (!(error instanceof Error) || error instanceof BuildError || isInterrupt(error)) throw error
    throw new BuildError(`${file.name} cannot be read: ${reasonOf(error).replaceAll(file.link, file.name)}`)
  }
}

/** What was found with the unit of relative times: fractions are seconds, and whole numbers may be both. */
async function withUnit(
  database: Database,
  file: LinkedFile,
  found: Inspection,
  columnsIn: ColumnsIn,
): Promise<Inspection> {
  const { source } = found
  if (source?.base_time !== BASE_TIME_TO_SAY) return found
  type Row = { first: number | null; last: number | null; has_fractions: boolean | null }
  const base_us = BigInt(Date.parse(BASE_TIME_TO_SAY)) * 1000n
  const [row] = await database.rows<Row>('inspect/numbers', { base_us })
  if (row === undefined || row.first === null || row.last === null) return found
  if (row.has_fractions === true) {
    const inSeconds: SourceEntry = { ...source, time_unit: 'seconds' }
    const records = await mapRecords(database, inSeconds, file)
    return typeof records === 'string' ? found : foundIn(inSeconds, records, columnsIn)
  }
  if (row.last > MOST_SECONDS) return found
  const note = `${row.first} to ${row.last} may be seconds or milliseconds: check "time_unit"`
  return { ...found, numbers: { first: row.first, last: row.last }, notes: [...found.notes, note] }
}

/** The file as the first of these sources reads it that rejects not all of its records. */
async function firstReading(
  database: Database,
  file: LinkedFile,
  sources: readonly SourceEntry[],
  columnsIn: ColumnsIn,
): Promise<Inspection | undefined> {
  for (const source of sources) {
    const records = await mapRecords(database, source, file)
    if (typeof records === 'string' || (records.length > 0 && !records.some(isRead))) continue
    return foundIn(source, records, columnsIn)
  }
  return undefined
}

function foundIn(source: SourceEntry, records: readonly MappedRecord[], columnsIn: ColumnsIn): Inspection {
  const columns = columnsIn(source)
  const unread = unreadCounts(source, columns)
  return {
    source,
    lacks_offset: source.schema === 'canonical' && /[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?$/.test(timeIn(source, columns)),
    unread,
    notes: [...notesOn(source, records), ...unread.map((path) => `${path} is not read: is it in the other counts?`)],
  }
}

const isRead = ({ reject_reason }: MappedRecord) =>
  reject_reason === null || reject_reason === 'left_out' || reject_reason === 'nothing_used'

/** What tells how the records of a file are read. */
type Shape = Pick<SourceEntry, 'schema' | 'columns' | 'unnest'>

/** The columns of the records, which a source may have in lists of each line. */
type ColumnsIn = (source: Shape) => Column[]

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
    areIdentified: false,
    delimiter,
    types,
    positions: new Map(),
    pathColumns: [],
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
  if (lines.length > 0 && lines.every((line) => line === null)) throw new BuildError(`${file.name} line 1 is not JSON`)
  const known = new Map<string, Column[]>()
  return ({ schema, unnest }) => {
    const lists = listsOf({ schema, unnest, columns: {} })
    const key = lists.join()
    const columns = known.get(key) ?? keysOf(lines, lists)
    known.set(key, columns)
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
  const next = `${level}${list}[].`
  if (!Array.isArray(elements)) {
    if (inner.length === 0) return membersOf(value)
    // A line that is an element of an inner list.
    return [
      ...membersOf(value).map(([key, member]): [string, unknown] => [next + key, member]),
      ...membersIn(value, inner, next),
    ]
  }
  const around = membersOf(value)
    .filter(([, member]) => member !== elements)
    .map(([key, member]): [string, unknown] => [`${level || '$.'}${key}`, member])
  return [...around, ...elements.flatMap((element) => membersIn(element, inner, next))]
}

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
}

function proposals(file: LinkedFile, columnsIn: ColumnsIn): SourceEntry[] {
  const columns = columnsIn({ schema: 'canonical' })
  const names = columns.map((column) => column.name)
  const name = basename(file.name).replace(/\..*$/, '') || 'logs'
  const files = [resolve(file.name)]
  const fitting = SCHEMA_NAMES.flatMap((schema) => shapesOf(schema, file, columnsIn))
    .filter((shape) => missingColumns(shape, columnsIn).length === 0)
    .sort((a, b) => recognized(b, columnsIn) - recognized(a, columnsIn))
    .map((shape): SourceEntry => {
      return { name, files, ...shape, ...(MAPPINGS[shape.schema].may_be_sampled && { sampling_rate: 1 }) }
    })
  const renamed = renamesToCanonical(names, file.format === 'ndjson' ? innerPaths(columns) : [])
  if (renamed !== undefined) {
    const model = renamed.hasModel ? {} : { model: MODEL_TO_SAY }
    fitting.push({ name, schema: 'canonical', files, columns: renamed.columns, ...model })
  }
  return fitting.flatMap((source) => [source, ...relativeTo(source, columnsIn(source))])
}

function unreadCounts({ schema, columns: own = {} }: Shape, columns: readonly Column[]): string[] {
  if (schema !== 'canonical') return []
  const read = Object.values(own).flatMap((paths) =>
    Array.isArray(paths) ? paths.map((path) => path.replace(/^\+/, '')) : paths,
  )
  return [...columns.map(({ name }) => name), ...innerPaths(columns)]
    .filter((path) => /cache|reason|audio/i.test(path) && /tokens?$/i.test(path))
    .filter((path) => !read.includes(path))
}

/** The paths to keys inside of objects, three levels deep. */
function innerPaths(columns: readonly Column[]): string[] {
  const inside = (path: string, value: unknown, depth: number): string[] =>
    membersOf(value).flatMap(([key, member]) => {
      if (!/^\w+$/.test(key)) return []
      const inner = `${path}.${key}`
      return [inner, ...(depth > 1 ? inside(inner, member, depth - 1) : [])]
    })
  const objects = columns.filter(({ name, sample }) => /^\w+$/.test(name) && sample.startsWith('{'))
  return objects.flatMap(({ name, sample }) => inside(name, jsonIfAny(sample), 2))
}

/** The forms in which a product writes files. A form that renames columns is for files without the columns of the schema. */
function shapesOf(schema: SchemaName, { format }: LinkedFile, columnsIn: ColumnsIn): Shape[] {
  const forms = MAPPINGS[schema].forms
    .filter(({ unnest }) => unnest === undefined || format === 'ndjson')
    .map(({ columns, unnest }): Shape => ({ schema, ...(columns && { columns }), ...(unnest && { unnest }) }))
  const fitting = forms.filter((shape) => {
    const names = columnsIn(shape).map((column) => column.name)
    return Object.keys(shape.columns ?? {}).every((column) => !names.includes(column))
  })
  return [{ schema }, ...fitting]
}

/** The source with a base time, if its timestamps are numbers that need one; otherwise nothing. */
function relativeTo(source: SourceEntry, columns: readonly Column[]): SourceEntry[] {
  const time = timeIn(source, columns)
  const schema: Schema = SCHEMAS[source.schema]
  if (schema.hasAbsoluteTime || !/^\d{1,13}(\.\d+)?$/.test(time)) return []
  if (Number(time) >= UNIX_MILLISECONDS) return [{ ...source, base_time: UNIX_EPOCH, time_unit: 'milliseconds' }]
  if (Number(time) >= UNIX_SECONDS) return [{ ...source, base_time: UNIX_EPOCH, time_unit: 'seconds' }]
  return [{ ...source, base_time: BASE_TIME_TO_SAY, time_unit: 'milliseconds' }]
}

/** The first timestamp of the records, as it is written. */
function timeIn({ schema, columns: names = {} }: Shape, columns: readonly Column[]): string {
  const [column = ''] = SCHEMAS[schema].record.timestamp.columns
  const name = fileColumn({ columns: names }, column)
  return columns.find((each) => each.name === name)?.sample ?? ''
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

function notesOn({ model, base_time, sampling_rate }: SourceEntry, records: readonly MappedRecord[]): string[] {
  const rejected = records.filter((record) => !isRead(record)).length
  const dates = records.flatMap(({ date }) => date ?? [])
  const notes: [boolean, string][] = [
    [model !== undefined, 'no column has the model: name it in "model"'],
    [base_time === BASE_TIME_TO_SAY, 'timestamps are relative: set "base_time" to their start'],
    [sampling_rate !== undefined, SAMPLING_TO_CHECK],
    [rejected > 0, `${rejected} of the first ${records.length} records would be rejected`],
    [dates.every((date) => date < DATASET_START), `the first records are before the dataset begins, ${DATASET_START}`],
    [!records.some((record) => record.has_request_id), 'records have no id: duplicates would count again'],
  ]
  return notes.filter(([applies]) => applies).map(([, note]) => note)
}

function missingColumns(shape: Shape, columnsIn: ColumnsIn): string[] {
  const names = columnsIn(shape).map((column) => column.name)
  const renamed = Object.keys(shape.columns ?? {}).map((column) => [column])
  const { told_by } = MAPPINGS[shape.schema]
  return [...neededColumns(SCHEMAS[shape.schema], false), ...renamed, ...(told_by === undefined ? [] : [told_by])]
    .map((choice) => choice.map((column) => fileColumn({ columns: shape.columns ?? {} }, column)))
    .filter((choice) => !choice.some((column) => names.includes(column)))
    .map((choice) => choice.join(' or '))
}

function recognized({ schema, columns = {}, unnest }: Shape, columnsIn: ColumnsIn): number {
  const names = columnsIn({ schema, unnest }).map((column) => column.name)
  return schemaColumns(SCHEMAS[schema]).filter((column) => names.includes(fileColumn({ columns }, column))).length
}

/** Why a source of your own logs reads no record. */
function whyRejected({ schema, columns = {} }: SourceEntry, records: readonly MappedRecord[]): string[] {
  const reasons = [...new Set(records.map(({ reject_reason }) => reject_reason))].join(', ')
  if (schema !== 'canonical' || reasons === '' || Object.keys(columns).length === 0) return []
  return [`read as your own logs, all of the first records are rejected (${reasons})`]
}

/** What there is, and the source of your own logs to fill in. */
function howToRead(file: LinkedFile, columnsIn: ColumnsIn): string[] {
  const found = columnsIn({ schema: 'canonical' })
  if (found.length === 0) return []
  const names = found.map(({ name }) => name)
  const columns = columnsToSay(names, file.format === 'ndjson' ? innerPaths(found) : [])
  const shown = found.map(({ name, sample }) => `${name} (${sample.slice(0, SAMPLE_SHOWN)})`).slice(0, COLUMNS_SHOWN)
  const more = found.length > COLUMNS_SHOWN ? `, and ${found.length - COLUMNS_SHOWN} more` : ''
  const source = JSON.stringify({ name: 'own', schema: 'canonical', files: [file.name], columns })
  return [`its columns: ${shown.join(', ')}${more}`, `if these are your own logs, fill in this source: ${source}`]
}

function whatIsMissing(columnsIn: ColumnsIn): string {
  const shapes = SCHEMA_NAMES.map((schema): Shape => ({ schema }))
  const [nearest = { schema: 'canonical' }] = shapes.sort((a, b) => recognized(b, columnsIn) - recognized(a, columnsIn))
  const missing = missingColumns(nearest, columnsIn)
  if (missing.length === 0)
    return `the columns are those of ${nearest.schema}, but none of the first records can be read`
  return `the nearest schema is ${nearest.schema}, which also needs ${[...new Set(missing)].join(', ')}`
}
