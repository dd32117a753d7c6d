import type { Database, SqlValue } from '../base/database.ts'
import { readStatement } from '../base/statements.ts'
import type { Format } from './files/find.ts'
import type { InputGroup } from './files/group.ts'
import type { CsvReading, LinkedFile } from './files/link.ts'
import { MADE_DATE } from './files/path-columns.ts'
import { LONGEST_RECORD_BYTES } from './files/split.ts'
import { type Columns, jsonPointer, literal, type Setting } from './schemas/expression.ts'
import { HELICONE_SCHEMAS, heliconeSettings } from './schemas/helicone-settings.ts'
import { fileColumn, isOwn, keysWithoutRecords, ownPlaces, readsContributor, schemaOf } from './schemas/of-source.ts'
import { NOTE_KINDS, PARTS_DISAGREEMENTS, type Schema, TOKEN_PARTS, type UsageRecord } from './schemas/schema.ts'
import { ABSENT, jsonValue, parquetValue, type RelativeTime, textValue, type Value } from './schemas/value.ts'
import type { Source } from './sources.ts'

/** Defines the view `core_usage`: typed records of the groups in the source's time zone, with reject reasons. */
export async function defineUsage(database: Database, source: Source, groups: readonly InputGroup[]): Promise<void> {
  await defineViews(
    database,
    source,
    groups,
    groups.map((group, number) => selectGroup(group, number)),
  )
}

/** The same view over one file, in order, with `record_number` (from 1) and `content`: Parquet's columns, an element of a list. */
export async function defineNumberedUsage(database: Database, group: InputGroup, file: LinkedFile): Promise<void> {
  const alone = { ...group, files: [file] }
  await defineViews(database, group.source, [alone], [selectGroup(alone, 0, true)])
}

async function defineViews(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  selects: readonly Select[],
): Promise<void> {
  await database.setTimeZone(source.timezone)
  for (const { variables } of selects) await setVariables(database, variables)
  const types = groups.map((group) => group.types)
  await database.define('usage', usageViews(selects), types)
}

/** SQL, and the variables that it reads: no text of a user or a file is written into it. */
interface Select {
  sql: string
  variables: Record<string, SqlValue>
}

function usageViews(selects: readonly Select[]): string {
  const raw = `CREATE OR REPLACE TEMP VIEW raw_usage AS\n${selects.map(({ sql }) => sql).join('\nUNION ALL\n')}`
  return `${raw};\n${readStatement('ingest/usage')}`
}

/** The SQL of the view `core_usage` over one group, and the variables that it reads. */
export function usageSql(group: InputGroup): Select {
  const select = selectGroup(group, 0)
  return { ...select, sql: usageViews([select]) }
}

/** Defines the view `raw_sample`: each record's fields as text in column order, or its NDJSON line. */
export async function defineSample(database: Database, group: InputGroup): Promise<void> {
  await setVariables(database, variablesOf(0, group))
  const fields = group.format === 'ndjson' ? ['json'] : columnNames(group)
  const texts = fields.map((field) => `${field}::VARCHAR`).join(', ')
  const select = `SELECT [${texts}] AS fields\n${fromGroup(group, 0, new Map())}`
  await database.execute(`CREATE OR REPLACE TEMP VIEW raw_sample AS\n${select}`)
}

const LARGE = LONGEST_RECORD_BYTES + 1000
const READ_CSV = { parallel: false, max_line_size: 2_000_000, buffer_size: 32_000_000 }

/** DuckDB's CSV options. A record longer than the buffer would be lost or split. */
const CSV_READING: Record<CsvReading, typeof READ_CSV> = {
  parallel: { ...READ_CSV, parallel: true },
  ordered: READ_CSV,
  large: { ...READ_CSV, max_line_size: LARGE, buffer_size: 2 * LARGE },
}

async function setVariables(database: Database, variables: Record<string, SqlValue>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) await database.setVariable(name, value)
}

function variablesOf(number: number, group: InputGroup): Record<string, SqlValue> {
  const { source, format, compression, delimiter, types, files } = group
  const variables: Record<string, SqlValue> = {
    files: files.map((file) => file.link),
    compression,
    ...(source.model !== undefined && { model: source.model }),
    ...settingsOf(source),
    ...pathVariables(group),
    ...(format === 'ndjson' && jsonVariables(group)),
    ...(format === 'csv' && {
      delimiter,
      ...CSV_READING[group.csvReading],
      columns: Object.fromEntries(types.map((type, i) => [`c${i}`, type])),
    }),
  }
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [`${name}_${number}`, value]))
}

function pathVariables({ pathColumns, files }: InputGroup): Record<string, SqlValue> {
  const values = pathColumns.map((name, i) => [`path_${i}`, files.map(({ columns }) => columns?.[name] ?? null)])
  return Object.fromEntries(values)
}

/** DuckDB's default. */
const LONGEST_LINE = 16_777_216

function jsonVariables({ source, lists, mayBeUnwrapped, pointers, files }: InputGroup): Record<string, SqlValue> {
  const longest = { longest_line: Math.max(LONGEST_LINE, ...files.map(({ lines }) => (lines?.longestBytes ?? 0) + 1)) }
  if (lists.length === 0) return { ...longest, pointers: pointers[0] ?? [] }
  const paths = lists.map((list, depth) => [`list_${depth + 1}`, list.split('.').map(jsonPointer).join('')])
  // DuckDB does not accept an empty list.
  const named = pointers.flatMap((own, depth) => (own.length === 0 ? [] : [[`pointers_${depth}`, own]]))
  const other_keys = keysWithoutRecords(source).map(jsonPointer)
  const lines = { may_be_unwrapped: mayBeUnwrapped, ...(other_keys.length > 0 && { other_keys }) }
  return { ...longest, ...lines, ...Object.fromEntries([...paths, ...named]) }
}

function settingsOf(source: Source): Partial<Record<Setting, string>> {
  return HELICONE_SCHEMAS.includes(source.schema) ? heliconeSettings(source) : {}
}

/** A number for each row. DuckDB then reads the file in order. */
const ROW_NUMBER = 'row_number() OVER ()'

/** Parquet has row numbers itself. */
function numberedFields(group: InputGroup, columns: Columns): string[] {
  if (group.format !== 'parquet') {
    const content = group.lists.length > 0 ? '{line: line_number, json: held::VARCHAR}' : 'NULL::VARCHAR'
    return [`${columns.once(ROW_NUMBER)} AS record_number`, `${content} AS content`]
  }
  const texts = columnNames(group).map((name) => `${name} := ${name}::VARCHAR`)
  return ['file_row_number + 1 AS record_number', `struct_pack(${texts.join(', ')}) AS content`]
}

/** The SELECT of one group. It contains only positions, types and this project's own SQL. */
function selectGroup(group: InputGroup, number: number, isNumbered = false): Select {
  const { record, parts_disagree, parts, notes } = schemaOf(group.source)
  const contributor = readsContributor(group.source) ? record.contributor : undefined
  const { columns, computed, texts } = columnsOf(group, number)
  const fields = [
    ...(isNumbered ? numberedFields(group, columns) : []),
    `${number} AS input_group`,
    'file_index::INTEGER AS file_index',
    `${isMalformed(group, record, columns)} AS is_malformed`,
    `${record.is_left_out?.sql(columns) ?? 'false'} AS is_left_out`,
    `${record.timestamp.sql(columns)} AS instant_us`,
    `${model(group, number, record, columns)} AS model`,
    `${record.prompt_tokens.sql(columns)} AS prompt_tokens`,
    `${record.completion_tokens.sql(columns)} AS completion_tokens`,
    `${record.prompt_tokens.exists(columns)} AS has_prompt_tokens`,
    `${record.completion_tokens.exists(columns)} AS has_completion_tokens`,
    `nullif(${record.request_id?.sql(columns) ?? 'NULL::VARCHAR'}, '') AS request_id`,
    `nullif(${record.visibility?.sql(columns) ?? 'NULL::VARCHAR'}, '') AS visibility`,
    `${record.api_key_hash?.sql(columns) ?? 'NULL::VARCHAR'} AS api_key_hash`,
    `nullif(${contributor?.sql(columns) ?? 'NULL::VARCHAR'}, '') AS contributor`,
    `${record.cost_usd?.sql(columns) ?? '0::DECIMAL(18, 9)'} AS cost_usd`,
    `${record.is_byok?.sql(columns) ?? 'false'} AS is_byok`,
    `${record.updated_at?.sql(columns) ?? 'NULL::BIGINT'} AS updated_us`,
    `${disagreement(parts_disagree, columns)} AS parts_disagree`,
    `${partsOf(parts, record, columns)} AS parts`,
    `${pathsFound(group.source, columns)} AS paths_found`,
    ...noteOf(notes, columns),
  ]
  return {
    sql: `SELECT\n  ${fields.join(',\n  ')}\n${fromGroup(group, number, computed, isNumbered)}`,
    variables: { ...variablesOf(number, group), ...texts },
  }
}

/**
 * SQL for the fields of a record that the raw texts of some columns decide, over rows of `from` with these texts in
 * `keys` and the schema's columns that they have in `has`. `keys` are the names of the columns.
 */
export function judgedSql(
  group: InputGroup,
  number: number,
  { keys, from }: { keys: readonly string[]; from: string },
): Select {
  const { record } = schemaOf(group.source)
  const contributor = readsContributor(group.source) ? record.contributor : undefined
  const texts = group.format === 'csv' ? textsAsColumns(group, keys) : textsAsValue(group, keys)
  const { columns: all, computed, texts: variables } = columnsOf(group, number)
  const has = (column: string): Value => ({ ...ABSENT, exists: () => `list_contains(has, ${literal(column)})` })
  const columns = { ...all, value: (column: string) => (keys.includes(column) ? all.value(column) : has(column)) }
  const fields = [
    `${record.is_left_out?.sql(columns) ?? 'false'} AS is_left_out`,
    `${model(group, number, record, columns)} AS model`,
    `nullif(${record.visibility?.sql(columns) ?? 'NULL::VARCHAR'}, '') AS visibility`,
    `${record.api_key_hash?.sql(columns) ?? 'NULL::VARCHAR'} AS api_key_hash`,
    `nullif(${contributor?.sql(columns) ?? 'NULL::VARCHAR'}, '') AS contributor`,
    `${record.is_byok?.sql(columns) ?? 'false'} AS is_byok`,
    `${pathsFound(group.source, columns)} AS paths_found`,
    `${record.prompt_tokens.exists(columns)} AS has_prompt_tokens`,
    `${record.completion_tokens.exists(columns)} AS has_completion_tokens`,
  ]
  const rows = withComputed(
    computed,
    `FROM (SELECT ${['*', texts].filter((each) => each !== '').join(', ')} FROM ${from})`,
  )
  const { model: own } = group.source
  return {
    sql: `SELECT * EXCLUDE (keys, has), ${fields.join(', ')}\n${rows}`,
    variables: { ...variables, ...(own !== undefined && { [`model_${number}`]: own }) },
  }
}

function textsAsColumns({ positions }: InputGroup, keys: readonly string[]): string {
  const columns = keys.flatMap((column, key) => {
    const position = positions.get(column)
    return position === undefined ? [] : [`keys[${key + 1}] AS c${position}`]
  })
  return columns.join(', ')
}

function textsAsValue({ positions }: InputGroup, keys: readonly string[]): string {
  const values = [...positions.keys()].map((column) => {
    const key = keys.indexOf(column)
    return key < 0 ? 'NULL' : `keys[${key + 1}]::JSON`
  })
  return `[${values.join(', ')}]::JSON[] AS value`
}

function withComputed(computed: ReadonlyMap<string, string>, from: string): string {
  return inLevels(computed).reduce((inner, added) => `FROM (\nSELECT *, ${added.join(', ')}\n${inner})`, from)
}

function fromGroup(
  group: InputGroup,
  number: number,
  computed: ReadonlyMap<string, string>,
  isNumbered = false,
): string {
  const names = columnNames(group).join(', ')
  const template = group.lists.length > 0 ? elementsOf(group, isNumbered) : readStatement(`ingest/${group.format}`)
  const statement = template.replaceAll(/_N\b/g, `_${number}`).replaceAll('COLUMN_NAMES', names)
  // The list is never NULL. The condition only makes DuckDB read every column.
  const readsAll = group.format === 'csv' && group.readsAllColumns
  const scan = readsAll ? `${statement}\nWHERE [${names}] IS NOT NULL` : statement
  const hasPath = group.pathColumns.length > 0
  const from = hasPath ? withPathColumns(group, number, scan) : scan
  return inLevels(computed).reduce((inner, added, level) => {
    const madeUp = level === 0 && !hasPath ? MADE_UP_COLUMNS[group.format] : []
    return `FROM (\nSELECT ${['*', ...madeUp, ...added].join(', ')}\n${inner})`
  }, from)
}

/** FROM with the columns path_0, path_1, … of each file. A join may change the order of rows, which one file needs. */
function withPathColumns({ format, pathColumns, files }: InputGroup, number: number, scan: string): string {
  const named = (sql: (values: string) => string) =>
    pathColumns.map((_, i) => `${sql(`getvariable('path_${i}_${number}')`)} AS path_${i}`)
  const all = ['*', ...MADE_UP_COLUMNS[format]]
  if (files.length === 1)
    return `FROM (\nSELECT ${[...all, ...named((values) => `${values}[1]::VARCHAR`)].join(', ')}\n${scan}\n)`
  const columns = named((values) => `unnest(${values})::VARCHAR`).join(', ')
  const paths = `SELECT ${columns}, generate_subscripts(getvariable('path_0_${number}'), 1) - 1 AS file_index`
  return `FROM (\nSELECT ${all.join(', ')}\n${scan}\n)\nJOIN (${paths}) USING (file_index)`
}

/**
 * FROM with a row for each element of lists within lists: `json` is the element, `value` what its columns have. Numbered,
 * also the number of its line, and `held`: the innermost element that there is.
 */
function elementsOf({ source, lists, pointers }: InputGroup, isNumbered: boolean): string {
  const valuesOf = (depth: number) => `json_extract(element_${depth}, getvariable('pointers_${depth}_N'))`
  const isRead = (depth: number) => (pointers[depth] ?? []).length > 0
  // What is around a list is read before its elements are: otherwise once for each of them.
  const withValues = (rows: string, depth: number) =>
    isRead(depth) ? `SELECT *, ${valuesOf(depth)} AS value_${depth}\nFROM (\n${rows}\n)` : rows
  const lines = readStatement('ingest/documents').replace(' ADDED', isNumbered ? `, ${ROW_NUMBER} AS line_number` : '')
  const hasOthers = keysWithoutRecords(source).length > 0
  const documents = hasOthers ? `SELECT *\nFROM (\n${lines}\n)\n${readStatement('ingest/with_records')}` : lines
  const rows = lists.reduce((outer, _, depth) => {
    const statement = readStatement('ingest/elements').replaceAll(/\bJ\b|_J\b/g, (name) =>
      name.replace('J', `${depth}`),
    )
    return `${statement.replaceAll(/_K(?=\b|_N)/g, `_${depth + 1}`)}\nFROM (\n${withValues(outer, depth)}\n)`
  }, documents)
  const elements = ['', ...lists].map((_, depth) => `element_${depth}`)
  const found = elements.flatMap((_, depth) => {
    if (!isRead(depth)) return []
    return [depth === lists.length ? valuesOf(depth) : `value_${depth}`]
  })
  const value = found.length === 1 ? found[0] : `list_concat(${found.join(', ')})`
  const added = isNumbered ? `, line_number, coalesce(${elements.toReversed().join(', ')}) AS held` : ''
  return `FROM (\nSELECT file_index, ${elements.at(-1)} AS json, ${value} AS value${added}\nFROM (\n${rows}\n))`
}

/**
 * Computed columns by level: each has only columns of the levels before it. Side by side, DuckDB would write out a column
 * in each that uses it, which takes seconds to plan.
 */
function inLevels(computed: ReadonlyMap<string, string>): string[][] {
  const levels = new Map<string, number>()
  const result: string[][] = []
  for (const [sql, name] of computed) {
    const used = [...sql.matchAll(/\bcomputed_\d+\b/g)].map(([each]) => levels.get(each) ?? -1)
    const level = Math.max(-1, ...used) + 1
    levels.set(name, level)
    result[level] = [...(result[level] ?? []), `${sql} AS ${name}`]
  }
  return result
}

/** DuckDB's virtual columns, which * does not select. */
const MADE_UP_COLUMNS: Record<Format, readonly string[]> = {
  csv: ['file_index'],
  ndjson: [],
  parquet: ['file_index', 'file_row_number'],
}

function columnNames(group: InputGroup): string[] {
  return group.types.map((_, position) => `c${position}`)
}

/** The model as written, or the source's own `model` if the record has none. */
function model(group: InputGroup, number: number, { model_permaslug }: UsageRecord, columns: Columns): string {
  const own = model_permaslug.sql(columns)
  if (group.source.model === undefined) return own
  return `CASE WHEN ${model_permaslug.exists(columns)} THEN ${own} ELSE getvariable('model_${number}') END`
}

function disagreement(conditions: Schema['parts_disagree'] = {}, columns: Columns): string {
  const cases = PARTS_DISAGREEMENTS.flatMap((reason) => {
    const condition = conditions[reason]
    return condition === undefined ? [] : [`WHEN ${condition.sql(columns)} THEN ${literal(reason)}`]
  })
  return cases.length === 0 ? 'NULL::VARCHAR' : `CASE ${cases.join(' ')} END`
}

/** A struct of counts; NULL for a part that the record does not have, and for a total of 0. */
function partsOf(parts: Schema['parts'] = {}, { prompt_tokens }: UsageRecord, columns: Columns): string {
  const named = [...TOKEN_PARTS, 'total' as const].map((name) => {
    const part = parts[name]
    const counted = part === undefined ? 'NULL' : `CASE WHEN ${part.exists(columns)} THEN ${part.sql(columns)} END`
    return `'${name}': ${name === 'total' ? `nullif(${counted}, 0)` : counted}::BIGINT`
  })
  return `{'input': ${prompt_tokens.sql(columns)}, ${named.join(', ')}}`
}

/** Which of the source's own paths a record has: a bit for each. */
function pathsFound(source: Source, columns: Columns): string {
  const bits = ownPlaces(source).map(({ places }, position) => {
    const found = places.map((place) => place.value(columns).exists()).join(' OR ')
    return `CASE WHEN ${found} THEN ${2n ** BigInt(position)} ELSE 0 END`
  })
  return bits.length === 0 ? 'NULL::BIGINT' : `(${bits.join(' | ')})::BIGINT`
}

function noteOf(notes: Schema['notes'] = {}, columns: Columns): string[] {
  const found = NOTE_KINDS.flatMap((kind) => {
    const note = notes[kind]
    if (note === undefined) return []
    return [{ kind: literal(kind), name: note.name.sql(columns), tokens: note.tokens?.sql(columns) ?? '0' }]
  })
  if (found.length === 0)
    return ['NULL::VARCHAR AS note_kind', 'NULL::VARCHAR AS note_name', '0::BIGINT AS note_tokens']
  const whichever = (field: 'kind' | 'name' | 'tokens') =>
    `CASE ${found.map((note) => `WHEN ${note.name} IS NOT NULL THEN ${note[field]}`).join(' ')} END`
  return [
    `${whichever('kind')} AS note_kind`,
    `${whichever('name')} AS note_name`,
    `coalesce(${whichever('tokens')}, 0)::BIGINT AS note_tokens`,
  ]
}

/**
 * Whether an NDJSON line or an element of a list is not an object. Of lines only asked without a timestamp, because it
 * parses the line again; an element may have its timestamp around it, and a file may have it in its path.
 */
function isMalformed({ format, lists, pathColumns }: InputGroup, { timestamp }: UsageRecord, columns: Columns): string {
  if (format !== 'ndjson') return 'false'
  if (lists.length > 0 || pathColumns.length > 0) return `json IS NULL OR NOT starts_with(ltrim(json), '{')`
  return `json IS NULL OR (NOT (${timestamp.exists(columns)}) AND NOT starts_with(ltrim(json), '{'))`
}

interface GroupColumns {
  columns: Columns
  computed: ReadonlyMap<string, string>
  /** Texts of a source's own mapping, by variable. */
  texts: Record<string, string>
}

function columnsOf(group: InputGroup, number: number): GroupColumns {
  const { format, positions, pathColumns, source, types, files } = group
  const relative = relativeTime(source)
  const computed = new Map<string, string>()
  const value = (column: string): Value => {
    const name = fileColumn(source, column)
    const inPath = pathColumns.indexOf(name)
    if (inPath >= 0) return textValue(`path_${inPath}`, relative)
    const made = name === 'date' ? pathColumns.indexOf(MADE_DATE) : -1
    const position = positions.get(column)
    if (position === undefined) return made < 0 ? ABSENT : textValue(`path_${made}`, relative)
    const json = `value[${position + 1}]`
    if (format === 'ndjson') return jsonValue(made < 0 ? json : `coalesce(${json}, to_json(path_${made}))`, relative)
    if (format === 'csv') return textValue(`c${position}`, relative)
    const label = `${files[0]?.name}: column ${JSON.stringify(fileColumn(source, column))}`
    return parquetValue(`c${position}`, types[position] ?? '', { relative, label, isUtc: source.timezone === 'UTC' })
  }
  const once = (sql: string): string => {
    const name = computed.get(sql) ?? `computed_${computed.size}`
    computed.set(sql, name)
    return name
  }
  const setting = (name: Setting) => `getvariable('${name}_${number}')`
  const texts: Record<string, string> = {}
  const bound = (text: string): string => {
    const known = Object.entries(texts).find(([, each]) => each === text)
    const name = known?.[0] ?? `text_${number}_${Object.keys(texts).length}`
    texts[name] = text
    return `getvariable('${name}')`
  }
  const constant = isOwn(source) ? bound : literal
  const nested = (json: string) => jsonValue(json, relative)
  return { columns: { value, nested, once, setting, constant }, computed, texts }
}

function relativeTime({ base_time, time_unit }: Source): RelativeTime {
  if (base_time === undefined) return undefined
  const base = `${Date.parse(base_time) * 1000}`
  if (time_unit === undefined) return (text) => `instant_from_bare_number(${text}, ${base})`
  return (text) => `instant_from_number(${text}, ${base}, ${time_unit === 'seconds' ? 1_000_000 : 1000})`
}
