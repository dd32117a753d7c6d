import type { InputGroup } from './files/group.ts'
import { columnsOf, isSilent, type RecordField, type RecordFields, recordFields } from './record-fields.ts'
import { fromGroup, type Select, variablesOf } from './scan.ts'
import type { Columns } from './schemas/expression.ts'
import { schemaOf } from './schemas/of-source.ts'
import { TOKEN_PARTS } from './schemas/schema.ts'

/** What decides about a record beside its day and its counts. */
const DECIDING = [
  'malformed',
  'is_left_out',
  'model',
  'visibility',
  'api_key_hash',
  'contributor',
  'is_byok',
  'parts_disagree',
  'note_kind',
  'note_name',
] as const

/** What is added up of a field, and what stands for it in a group of files that has nothing to add up. */
interface Sum {
  field: RecordField
  sql: string
  /** The SQL of the field itself unless it says something else. */
  otherwise?: string
}

/**
 * The records of a group of files, added up by what decides about them; `ingest/groups` judges the rows. What a raw text
 * means, such as a key or a flag, is found out once for all records that have the text.
 */
export function selectGroups(group: InputGroup, number: number): Select {
  const { columns, computed, texts } = columnsOf(group, number)
  const fields = recordFields(group)
  const keys = new Map<string, string>()
  const keyOf = (sql: string): string => {
    const name = keys.get(sql) ?? `key_${keys.size}`
    keys.set(sql, name)
    return name
  }
  const overKeys = { ...columns, value: columnsOf(group, number, keyOf).columns.value }
  const decided = DECIDING.map((name) => {
    const isLater = readsAtMost(isText(group, name) ? 1 : 0, group, fields[name])
    return `${isLater ? fields[name](overKeys) : keyOf(fields[name](columns))} AS ${name}`
  })
  const sums = Object.entries(sumsOf(fields, identifiedIn(group, fields, columns))).map(([name, sum]) => {
    return { ...sum, name, isRead: !readsAtMost(0, group, sum.field) }
  })
  const read = sums.filter(({ isRead }) => isRead)
  const hasCost = read.some(({ name }) => name === 'cost_usd')
  const ofRecord = [
    'file_index::INTEGER AS file_index',
    `${fields.instant_us(columns)} // 86400000000 AS day`,
    `${fields.prompt_tokens(columns)} AS prompt_tokens`,
    `${fields.completion_tokens(columns)} AS completion_tokens`,
    ...[...keys].map(([sql, name]) => `${sql} AS ${name}`),
    ...read.map(({ name, field }) => `${field(columns)} AS ${name}`),
  ]
  const ofGroup = [
    ...['file_index', 'day', ...keys.values()],
    'prompt_tokens IS NULL OR completion_tokens IS NULL AS is_miscounted',
    `${isSilent(group.source, 'prompt_tokens', 'completion_tokens')} AS is_silent`,
    ...(hasCost ? ['cost_usd IS NULL AS is_cost_misread'] : []),
    'count(*) AS records',
    'sum(prompt_tokens) AS prompt_tokens',
    'sum(completion_tokens) AS completion_tokens',
    ...read.map(({ name, sql }) => `${sql} AS ${name}`),
  ]
  const judged = [
    ...[`${number} AS input_group`, 'file_index', 'day', ...decided],
    ...['is_miscounted', 'is_silent', hasCost ? 'is_cost_misread' : 'false AS is_cost_misread'],
    ...['records', 'prompt_tokens', 'completion_tokens'],
    ...sums.map(({ name, field, isRead, otherwise }) => (isRead ? name : `${otherwise ?? field(columns)} AS ${name}`)),
  ]
  const records = `SELECT\n  ${ofRecord.join(',\n  ')}\n${fromGroup(group, number, computed)}`
  const groups = `SELECT ${ofGroup.join(', ')}\nFROM (\n${records}\n)\nGROUP BY ALL`
  return {
    sql: `SELECT\n  ${judged.join(',\n  ')}\nFROM (\n${groups}\n)`,
    variables: { ...variablesOf(number, group), ...texts },
  }
}

/** Whether records have as many values of a field as raw texts, so that the texts may be grouped instead. */
function isText({ source }: InputGroup, name: (typeof DECIDING)[number]): boolean {
  const { model_permaslug, visibility, api_key_hash, contributor, is_byok } = schemaOf(source).record
  const texts = { model: model_permaslug, visibility, api_key_hash, contributor, is_byok }
  return name in texts && texts[name as keyof typeof texts]?.isText === true
}

/** Whether a field reads no more raw columns than `most`, and nothing that is computed of each record. */
function readsAtMost(most: number, group: InputGroup, field: RecordField): boolean {
  const names = new Set<string>()
  const { columns, computed } = columnsOf(group, 0, (sql) => {
    const name = `<${sql}>`
    names.add(name)
    return name
  })
  const sql = field(columns)
  return computed.size === 0 && [...names].filter((name) => sql.includes(name)).length <= most
}

/** Ids are counted, unless the footers of the files say that each record has one: to decode their texts takes long. */
function identifiedIn(group: InputGroup, { request_id }: RecordFields, columns: Columns): Sum {
  const isPlain = /^nullif\(c\d+(::VARCHAR)?, ''\)$/.test(request_id(columns))
  if (group.areIdentified && isPlain) return { field: () => 'NULL', sql: '', otherwise: 'records' }
  return { field: request_id, sql: 'count(identified_records)', otherwise: '0::BIGINT' }
}

function sumsOf({ parts, ...fields }: RecordFields, identified: Sum): Record<string, Sum> {
  const ofParts = TOKEN_PARTS.map((name): [string, Sum] => {
    return [name, { field: parts[name] ?? NO_PART, sql: `sum(${name})`, otherwise: 'NULL::HUGEINT' }]
  })
  return {
    has_prompt_tokens: { field: fields.has_prompt_tokens, sql: 'bool_or(has_prompt_tokens)' },
    has_completion_tokens: { field: fields.has_completion_tokens, sql: 'bool_or(has_completion_tokens)' },
    identified_records: identified,
    cost_usd: { field: fields.cost_usd, sql: 'sum(cost_usd)', otherwise: '0::DECIMAL(38, 9)' },
    ...Object.fromEntries(ofParts),
    total: {
      field: parts.total ?? NO_PART,
      sql: `CASE WHEN count(total) > 0 THEN sum(coalesce(total, prompt_tokens + completion_tokens)) END`,
      otherwise: 'NULL::HUGEINT',
    },
    note_tokens: { field: fields.note_tokens, sql: 'sum(note_tokens)', otherwise: '0::HUGEINT' },
    paths_found: { field: fields.paths_found, sql: 'bit_or(paths_found)' },
  }
}

const NO_PART: RecordField = () => 'NULL'
