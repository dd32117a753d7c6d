import { type Database, readStatement } from './database.ts'
import { BuildError } from './errors.ts'
import { fileColumn } from './inputs/columns.ts'
import { LONGEST_RECORD_BYTES } from './inputs/csv-shape.ts'
import type { Format } from './inputs/find.ts'
import type { InputGroup } from './inputs/group.ts'
import type { CsvReading, LinkedFile } from './inputs/link.ts'
import type { CanonicalColumn, Source } from './sources.ts'

/** How a value of a kind of file is read: each function turns a column into an expression over the macros. */
interface Reader {
  instant(column: string, source: Source): string
  count(column: string): string
  text(column: string): string
}

const INTEGER_TYPE = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/
const FRACTION_TYPE = /^(FLOAT|DOUBLE|DECIMAL\(.*\))$/
const TIMESTAMP_TYPE = /^(DATE|TIMESTAMP(_S|_MS|_NS)?)$/

const textReader: Reader = {
  instant: (column, source) => relativeInstant(column, source) ?? `instant_from_text(${column})`,
  count: (column) => `count_from_text(${column})`,
  text: (column) => column,
}

const jsonReader: Reader = {
  instant: (column, source) =>
    relativeInstant(`text_from_json(${column})`, source) ?? `instant_from_text(string_from_json(${column}))`,
  count: (column) => `count_from_json(${column})`,
  text: (column) => `text_from_json(${column})`,
}

/**
 * Defines the view `core_usage`: the usage records of the groups, typed, with the reason to reject each that is bad.
 * Text without an offset is read in the source's time zone, which the session takes over for that.
 */
export async function defineUsage(database: Database, source: Source, groups: readonly InputGroup[]): Promise<void> {
  const selects = groups.map((group, number) => selectGroup(group, readGroup(group, number), number))
  await defineViews(database, source, groups, selects)
}

/**
 * Defines the same view over one file, with two more columns: `record_number`, 1 for the first record that DuckDB gives,
 * and `content`, for Parquet a struct of the texts of its columns. DuckDB reads the file in its order then, and slower.
 */
export async function defineNumberedUsage(database: Database, group: InputGroup, file: LinkedFile): Promise<void> {
  const select = selectGroup(group, readGroupNumbered(group, 0), 0, [
    `${group.format === 'parquet' ? 'file_row_number + 1' : 'record_number'} AS record_number`,
    `${group.format === 'parquet' ? columnTexts(group) : 'NULL::VARCHAR'} AS content`,
  ])
  await defineViews(database, group.source, [{ ...group, files: [file] }], [select])
}

async function defineViews(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  selects: readonly string[],
): Promise<void> {
  await database.setTimeZone(source.timezone)
  for (const [number, group] of groups.entries()) await setVariables(database, number, group)
  await database.execute(`CREATE OR REPLACE TEMP VIEW raw_usage AS\n${selects.join('\nUNION ALL\n')}`)
  await database.run('core_usage')
}

/** The longest record with its line end. */
const LARGE = LONGEST_RECORD_BYTES + 1000
const READ_CSV = { parallel: false, max_line_size: 2_000_000, buffer_size: 32_000_000 }

/** What DuckDB is told of a CSV file. A record longer than a buffer would be lost, or read as if it were several. */
const CSV_READING: Record<CsvReading, typeof READ_CSV> = {
  parallel: { ...READ_CSV, parallel: true },
  ordered: READ_CSV,
  large: { ...READ_CSV, max_line_size: LARGE, buffer_size: 2 * LARGE },
}

async function setVariables(database: Database, number: number, group: InputGroup): Promise<void> {
  await database.setVariable(
    `files_${number}`,
    group.files.map((file) => file.link),
  )
  await database.setVariable(`compression_${number}`, group.compression)
  if (group.source.model !== undefined) await database.setVariable(`model_${number}`, group.source.model)
  if (group.format === 'ndjson') await database.setVariable(`pointers_${number}`, group.pointers)
  if (group.format !== 'csv') return
  await database.setVariable(`delimiter_${number}`, group.delimiter)
  for (const [name, value] of Object.entries(CSV_READING[group.csvReading])) {
    await database.setVariable(`${name}_${number}`, value)
  }
  await database.setVariable(`columns_${number}`, Object.fromEntries(group.types.map((type, i) => [`c${i}`, type])))
}

/** The FROM clause that reads a group. */
function readGroup(group: InputGroup, number: number): string {
  return readStatement(`ingest_${group.format}`)
    .replaceAll(/_N\b/g, `_${number}`)
    .replaceAll('COLUMN_NAMES', columnNames(group).join(', '))
}

/** A window without an order has DuckDB read a file from its begin to its end on one thread; Parquet knows its row numbers. */
function readGroupNumbered(group: InputGroup, number: number): string {
  const from = readGroup(group, number)
  if (group.format === 'parquet') return from
  const columns = group.format === 'csv' ? columnNames(group).join(', ') : 'json, value'
  return `FROM (\nSELECT file_index, ${columns}, row_number() OVER () AS record_number\n${from}\n)`
}

function columnNames(group: InputGroup): string[] {
  return group.types.map((_, position) => `c${position}`)
}

function columnTexts(group: InputGroup): string {
  return `struct_pack(${columnNames(group)
    .map((name) => `${name} := ${name}::VARCHAR`)
    .join(', ')})`
}

/** One SELECT over a group. Only positions, types and the statements of this project are written into it. */
function selectGroup(group: InputGroup, from: string, number: number, more: readonly string[] = []): string {
  const columns = [
    ...more,
    `${number} AS input_group`,
    'file_index::INTEGER AS file_index',
    `${isMalformed(group)} AS is_malformed`,
    `${instant(group)} AS instant_us`,
    `${model(group, number)} AS model`,
    `${count(group, 'prompt_tokens')} AS prompt_tokens`,
    `${count(group, 'completion_tokens')} AS completion_tokens`,
    `${isPresent(group, 'prompt_tokens')} AS has_prompt_tokens`,
    `${isPresent(group, 'completion_tokens')} AS has_completion_tokens`,
    `nullif(${text(group, 'request_id') ?? 'NULL::VARCHAR'}, '') AS request_id`,
    `nullif(${text(group, 'visibility') ?? 'NULL::VARCHAR'}, '') AS visibility`,
    `key_hash_from_text(${text(group, 'api_key_hash') ?? 'NULL::VARCHAR'}) AS api_key_hash`,
    `amount_from_text(${text(group, 'cost_usd') ?? 'NULL::VARCHAR'}) AS cost_usd`,
    `flag_from_text(${text(group, 'is_byok') ?? 'NULL::VARCHAR'}) AS is_byok`,
  ]
  return `SELECT\n  ${columns.join(',\n  ')}\n${from}`
}

function instant(group: InputGroup): string {
  const column = columnOf(group, 'timestamp')
  return column === undefined ? 'NULL::BIGINT' : readerOf(group, 'timestamp').instant(column, group.source)
}

/** The name of the model as written; the source's own `model` where the file has no such column. */
function model(group: InputGroup, number: number): string {
  const column = columnOf(group, 'model_permaslug')
  if (column === undefined) return `getvariable('model_${number}')`
  if (group.format !== 'ndjson') return text(group, 'model_permaslug') ?? column
  return group.source.model === undefined
    ? `string_from_json(${column})`
    : `CASE WHEN ${column} IS NULL THEN getvariable('model_${number}') ELSE string_from_json(${column}) END`
}

function count(group: InputGroup, name: 'prompt_tokens' | 'completion_tokens'): string {
  const column = columnOf(group, name)
  return column === undefined ? '0::BIGINT' : readerOf(group, name).count(column)
}

function text(group: InputGroup, name: CanonicalColumn): string | undefined {
  const column = columnOf(group, name)
  return column === undefined ? undefined : readerOf(group, name).text(column)
}

/** Whether the record has the column at all: a misspelt key of NDJSON would otherwise count as zero. */
function isPresent(group: InputGroup, name: 'prompt_tokens' | 'completion_tokens'): string {
  return group.format === 'ndjson' ? `${columnOf(group, name)} IS NOT NULL` : 'true'
}

/** Whether a line of NDJSON is no object; only asked where it has no timestamp, for the answer costs another look. */
function isMalformed(group: InputGroup): string {
  if (group.format !== 'ndjson') return 'false'
  return `json IS NULL OR (${columnOf(group, 'timestamp')} IS NULL AND NOT starts_with(ltrim(json), '{'))`
}

const COLUMN_OF: Record<Format, (position: number) => string> = {
  csv: (position) => `c${position}`,
  parquet: (position) => `c${position}`,
  ndjson: (position) => `value[${position + 1}]`,
}

function columnOf(group: InputGroup, name: CanonicalColumn): string | undefined {
  const position = group.positions.get(name)
  return position === undefined ? undefined : COLUMN_OF[group.format](position)
}

function readerOf(group: InputGroup, name: CanonicalColumn): Reader {
  if (group.format === 'csv') return textReader
  if (group.format === 'ndjson') return jsonReader
  return parquetReader(group, name, group.types[group.positions.get(name) ?? -1] ?? '')
}

function parquetReader(group: InputGroup, name: CanonicalColumn, type: string): Reader {
  if (type === 'VARCHAR') return textReader
  const refuse = (): never => {
    const column = JSON.stringify(fileColumn(group.source, name))
    throw new BuildError(
      `${group.files[0]?.name}: column ${column} has the Parquet type ${type}, which cannot be ${name}`,
    )
  }
  return {
    instant: (column, source) => {
      if (type === 'TIMESTAMP WITH TIME ZONE') return `epoch_us(${column})`
      if (TIMESTAMP_TYPE.test(type)) return `epoch_us(try_cast(${column} AS TIMESTAMP)::TIMESTAMPTZ)`
      if (INTEGER_TYPE.test(type)) return relativeInstant(`${column}::VARCHAR`, source) ?? 'NULL::BIGINT'
      // Written with a point, so that a floating column of whole numbers is still read as seconds.
      if (FRACTION_TYPE.test(type))
        return relativeInstant(`${column}::DECIMAL(28, 9)::VARCHAR`, source) ?? 'NULL::BIGINT'
      return refuse()
    },
    count: (column) => {
      if (INTEGER_TYPE.test(type)) return `count_from_integer(${column})`
      if (FRACTION_TYPE.test(type)) return `count_from_fraction(${column})`
      return refuse()
    },
    text: (column) => `${column}::VARCHAR`,
  }
}

/** Relative time, for sources with a `base_time`; undefined for sources without. */
function relativeInstant(column: string, source: Source): string | undefined {
  if (source.base_time === undefined) return undefined
  const base = `${Date.parse(source.base_time) * 1000}`
  if (source.time_unit === undefined) return `instant_from_bare_number(${column}, ${base})`
  return `instant_from_number(${column}, ${base}, ${source.time_unit === 'seconds' ? 1_000_000 : 1000})`
}
