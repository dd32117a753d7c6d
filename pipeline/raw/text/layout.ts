import { literal } from '../schemas/expression.ts'
import { fileColumn, listsOf, readsContributor, schemaOf } from '../schemas/of-source.ts'
import type { Schema, UsageRecord } from '../schemas/schema.ts'
import { schemaColumns } from '../schemas/schema.ts'
import { textValue, type Value } from '../schemas/value.ts'
import type { Source } from '../sources.ts'

/**
 * What the value of a column is for: `timestamp` gives the day, `prompt`, `completion` and `cost` are summed, an `id` is
 * counted. Records are grouped by the raw texts of `key` columns. An `ignored` value only has to be well formed.
 */
export type Role = 'timestamp' | 'prompt' | 'completion' | 'cost' | 'id' | 'key' | 'ignored'

/** A column that is not ignored: its name in the files, and the schema's name for it. */
export interface TextColumn {
  name: string
  column: string
  role: Exclude<Role, 'ignored'>
}

/** How records of text files can be summed while they are read. Plain data, for threads. */
export interface TextLayout {
  columns: readonly TextColumn[]
  /** Whether times without an offset are UTC. */
  isUtc: boolean
}

type Field = keyof UsageRecord

/** Fields that are summed or counted: only if the schema reads them plainly from one column. */
const SUMMED: [field: Field, role: TextColumn['role'], read: (value: Value) => string][] = [
  ['timestamp', 'timestamp', (value) => value.instant()],
  ['prompt_tokens', 'prompt', (value) => value.count()],
  ['completion_tokens', 'completion', (value) => value.count()],
  ['cost_usd', 'cost', (value) => `amount_from_text(${value.text()})`],
  ['request_id', 'id', (value) => value.text()],
]

/** Fields that are judged by the raw texts of their columns. */
const JUDGED: readonly Field[] = ['model_permaslug', 'visibility', 'api_key_hash', 'is_byok', 'is_left_out']

/** The layout of a source's text files; undefined if its schema or settings ask for more than sums by raw texts. */
export function layoutOf(source: Source): TextLayout | undefined {
  if (source.schema !== 'canonical' || source.base_time !== undefined || listsOf(source).length > 0) return undefined
  const { record, parts = {}, parts_disagree = {}, notes = {} }: Schema = schemaOf(source)
  if ([parts, parts_disagree, notes].some((each) => Object.keys(each).length > 0)) return undefined
  const roles = new Map<string, TextColumn['role']>()
  for (const [field, role, read] of SUMMED) {
    const expression = record[field]
    if (expression === undefined) continue
    const [column = '', ...others] = expression.columns
    const isPlain = others.length === 0 && expression.sql(PROBE) === read(PROBE.value(column))
    if (!isPlain || roles.has(column)) return undefined
    roles.set(column, role)
  }
  const judged = readsContributor(source) ? ([...JUDGED, 'contributor'] as const) : JUDGED
  for (const column of judged.flatMap((field) => record[field]?.columns ?? [])) {
    if ((roles.get(column) ?? 'key') !== 'key') return undefined
    roles.set(column, 'key')
  }
  const columns = schemaColumns(schemaOf(source)).flatMap((column) => {
    const role = roles.get(column)
    return role === undefined ? [] : [{ name: fileColumn(source, column), column, role }]
  })
  const areDistinct = new Set(columns.map(({ name }) => name)).size === columns.length
  return areDistinct ? { columns, isUtc: source.timezone === 'UTC' } : undefined
}

/** Writes SQL with the names of columns, to compare it. */
const PROBE = {
  value: (column: string) => textValue(JSON.stringify(column), undefined),
  nested: (json: string) => textValue(json, undefined),
  once: (sql: string) => `(${sql})`,
  setting: (name: string) => literal(name),
  constant: literal,
}
