import type { Database, SqlValue } from '../base/database.ts'
import { readStatement } from '../base/statements.ts'
import type { InputGroup } from './files/group.ts'
import type { LinkedFile } from './files/link.ts'
import { columnsOf, recordFields } from './record-fields.ts'
import { selectGroups } from './record-groups.ts'
import { columnNames, fromGroup, ROW_NUMBER, type Select, variablesOf } from './scan.ts'
import type { Columns } from './schemas/expression.ts'
import { TOKEN_PARTS } from './schemas/schema.ts'
import type { Source } from './sources.ts'

/** Defines the view `core_usage`: typed records of the groups in the source's time zone, with reject reasons. */
export async function defineUsage(database: Database, source: Source, groups: readonly InputGroup[]): Promise<void> {
  const selects = groups.map((group, number) => selectRecords(group, number))
  await defineView(database, source, groups, { name: 'usage', selects })
}

/** Defines the same view over the records whose hashed ids are in the view `core_repeated_ids`. */
export async function defineRepeatedUsage(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
): Promise<void> {
  const selects = groups.map((group, number) => selectRecords(group, number, { isRepeated: true }))
  await defineView(database, source, groups, { name: 'usage', selects })
}

/** Defines the view `core_groups`: the same records, added up. */
export async function defineGroups(database: Database, source: Source, groups: readonly InputGroup[]): Promise<void> {
  const selects = groups.map((group, number) => selectGroups(group, number))
  await defineView(database, source, groups, { name: 'groups', selects })
}

/** The view `core_usage` over one file, in order, with `record_number` (from 1) and `content`: Parquet's columns, an element of a list. */
export async function defineNumberedUsage(database: Database, group: InputGroup, file: LinkedFile): Promise<void> {
  const alone = { ...group, files: [file] }
  await defineView(database, group.source, [alone], {
    name: 'usage',
    selects: [selectRecords(alone, 0, { isNumbered: true })],
  })
}

interface View {
  name: 'usage' | 'groups'
  selects: readonly Select[]
}

async function defineView(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  view: View,
): Promise<void> {
  await database.setTimeZone(source.timezone)
  for (const { variables } of view.selects) await setVariables(database, variables)
  const types = groups.map((group) => group.types)
  await database.define(view.name, viewSql(view), types)
}

/** One view over a subquery: of a view over a view DuckDB would plan the inner one twice before anything is read. */
function viewSql({ name, selects }: View): string {
  const raw = `(\n${selects.map(({ sql }) => sql).join('\nUNION ALL\n')}\n) AS raw_${name}`
  return readStatement(`ingest/${name}`).replace(`raw_${name}`, () => raw)
}

/** The SQL of the view `core_usage` over one group, and the variables that it reads. */
export function usageSql(group: InputGroup): Select {
  const select = selectRecords(group, 0)
  return { ...select, sql: viewSql({ name: 'usage', selects: [select] }) }
}

/** Defines the view `raw_sample`: each record's fields as text in column order, or its NDJSON line. */
export async function defineSample(database: Database, group: InputGroup): Promise<void> {
  await setVariables(database, variablesOf(0, group))
  const fields = group.format === 'ndjson' ? ['json'] : columnNames(group)
  const texts = fields.map((field) => `${field}::VARCHAR`).join(', ')
  const select = `SELECT [${texts}] AS fields\n${fromGroup(group, 0, new Map())}`
  await database.execute(`CREATE OR REPLACE TEMP VIEW raw_sample AS\n${select}`)
}

async function setVariables(database: Database, variables: Record<string, SqlValue>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) await database.setVariable(name, value)
}

/** Parquet has row numbers itself. */
function numberedFields(group: InputGroup, columns: Columns): string[] {
  if (group.format !== 'parquet') {
    const content = group.lists.length > 0 ? '{line: line_number, json: held::VARCHAR}' : 'NULL::VARCHAR'
    return [`${columns.once(ROW_NUMBER)} AS record_number`, `${content} AS content`]
  }
  const texts = columnNames(group).map((name) => `${name} := TRY(${name}::VARCHAR)`)
  return ['file_row_number + 1 AS record_number', `struct_pack(${texts.join(', ')}) AS content`]
}

/** The SELECT of the records of one group. It contains only positions, types and this project's own SQL. */
function selectRecords(group: InputGroup, number: number, { isNumbered = false, isRepeated = false } = {}): Select {
  const { columns, computed, texts } = columnsOf(group, number)
  const { parts, prompt_tokens, ...others } = recordFields(group)
  const counted = [...TOKEN_PARTS, 'total' as const].map((name) => {
    return `'${name}': ${parts[name]?.(columns) ?? 'NULL::BIGINT'}`
  })
  const fields = [
    ...(isNumbered ? numberedFields(group, columns) : []),
    `${number} AS input_group`,
    'file_index::INTEGER AS file_index',
    ...Object.entries({ prompt_tokens, ...others }).map(([name, field]) => `${field(columns)} AS ${name}`),
    `{'input': ${prompt_tokens(columns)}, ${counted.join(', ')}} AS parts`,
  ]
  // Before all that is computed of a record: few are repeated.
  const id_hash = isRepeated ? columns.once(`hash(${others.request_id(columns)})`) : ''
  const wanted = isRepeated ? `\nWHERE ${id_hash} IN (SELECT id_hash FROM core_repeated_ids)` : ''
  return {
    sql: `SELECT\n  ${fields.join(',\n  ')}\n${fromGroup(group, number, computed, isNumbered)}${wanted}`,
    variables: { ...variablesOf(number, group), ...texts },
  }
}
