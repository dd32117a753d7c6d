import type { SqlValue } from '../base/database.ts'
import { readStatement } from '../base/statements.ts'
import type { Format } from './files/find.ts'
import type { InputGroup } from './files/group.ts'
import type { CsvReading } from './files/link.ts'
import { LONGEST_RECORD_BYTES } from './files/split.ts'
import { jsonPointer, type Setting } from './schemas/expression.ts'
import { HELICONE_SCHEMAS, heliconeSettings } from './schemas/helicone-settings.ts'
import { keysWithoutRecords } from './schemas/of-source.ts'
import type { Source } from './sources.ts'

/** SQL, and the variables that it reads: no text of a user or a file is written into it. */
export interface Select {
  sql: string
  variables: Record<string, SqlValue>
}

const LARGE = LONGEST_RECORD_BYTES + 1000
const READ_CSV = { parallel: false, max_line_size: 2_000_000, buffer_size: 32_000_000 }

/** DuckDB's CSV options. A record longer than the buffer would be lost or split. */
const CSV_READING: Record<CsvReading, typeof READ_CSV> = {
  parallel: { ...READ_CSV, parallel: true },
  ordered: READ_CSV,
  large: { ...READ_CSV, max_line_size: LARGE, buffer_size: 2 * LARGE },
}

/** What the FROM clause of a group reads, by variable: no text of a user or a file is written into its SQL. */
export function variablesOf(number: number, group: InputGroup): Record<string, SqlValue> {
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
export const ROW_NUMBER = 'row_number() OVER ()'

/** The rows of a group with their computed columns: `c0`, `c1`, … of CSV and Parquet, `json` and `value` of NDJSON. */
export function fromGroup(
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
  return withComputed(computed, from, hasPath ? [] : MADE_UP_COLUMNS[group.format])
}

/** FROM with computed columns; `madeUp` are those of its own that * does not select. */
export function withComputed(
  computed: ReadonlyMap<string, string>,
  from: string,
  madeUp: readonly string[] = [],
): string {
  return inLevels(computed).reduce((inner, added, level) => {
    return `FROM (\nSELECT ${['*', ...(level === 0 ? madeUp : []), ...added].join(', ')}\n${inner})`
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
 * FROM with a row for each element of lists within lists: `json` is the element, `value` what its columns have, `is_line`
 * whether it is a line without the list. Numbered, also the number of its line, and `held`: the innermost element that there is.
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
  const isLine = `${elements.at(-1)} = element_0 AS is_line`
  return `FROM (\nSELECT file_index, ${elements.at(-1)} AS json, ${value} AS value, ${isLine}${added}\nFROM (\n${rows}\n))`
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

export function columnNames(group: InputGroup): string[] {
  return group.types.map((_, position) => `c${position}`)
}
