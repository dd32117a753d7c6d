import type { InputGroup } from './files/group.ts'
import { MADE_DATE } from './files/path-columns.ts'
import { type Columns, literal, type Setting } from './schemas/expression.ts'
import { fileColumn, isOwn, ownPlaces, readsContributor, schemaOf } from './schemas/of-source.ts'
import { NOTE_KINDS, PARTS_DISAGREEMENTS, type Schema, type TokenPart, type UsageRecord } from './schemas/schema.ts'
import { ABSENT, jsonValue, parquetValue, type RelativeTime, textValue, type Value } from './schemas/value.ts'
import type { Source } from './sources.ts'

/** The SQL of what is kept of a record, over the columns of its group. */
export type RecordField = (columns: Columns) => string

export type RecordFields = ReturnType<typeof recordFields>

/** The fields of the records of a group, as the schema of its source reads them. */
export function recordFields(group: InputGroup) {
  const { source } = group
  const { record, parts_disagree, parts, notes } = schemaOf(source)
  const contributor = readsContributor(source) ? record.contributor : undefined
  return {
    malformed: (columns: Columns) => malformed(group, record, columns),
    is_left_out: record.is_left_out?.sql ?? (() => 'false'),
    is_silent: (columns: Columns) =>
      isSilent(source, record.prompt_tokens.sql(columns), record.completion_tokens.sql(columns)),
    instant_us: record.timestamp.sql,
    updated_us: record.updated_at?.sql ?? (() => 'NULL::BIGINT'),
    model: (columns: Columns) => model(group, record, columns),
    prompt_tokens: record.prompt_tokens.sql,
    completion_tokens: record.completion_tokens.sql,
    has_prompt_tokens: record.prompt_tokens.exists,
    has_completion_tokens: record.completion_tokens.exists,
    bucket: (columns: Columns) => bucket(record, columns),
    request_id: textOrNull(record.request_id?.sql),
    visibility: textOrNull(record.visibility?.sql),
    api_key_hash: record.api_key_hash?.sql ?? (() => 'NULL::VARCHAR'),
    contributor: textOrNull(contributor?.sql),
    cost_usd: record.cost_usd?.sql ?? (() => '0::DECIMAL(18, 9)'),
    is_byok: record.is_byok?.sql ?? (() => 'false'),
    parts_disagree: (columns: Columns) => disagreement(parts_disagree, columns),
    paths_found: (columns: Columns) => pathsFound(source, columns),
    ...noteOf(notes),
    parts: partsOf(parts),
  }
}

/**
 * Whether a record without a model may be left out for its counts. Products log failures before they know a model; a log of
 * one's own that has none has a fault.
 */
export function isSilent({ schema }: Source, prompt: string, completion: string): string {
  return schema === 'canonical' ? 'false' : `(${prompt} = 0 AND ${completion} = 0)`
}

function textOrNull(text: RecordField = () => 'NULL::VARCHAR'): RecordField {
  return (columns) => `nullif(${text(columns)}, '')`
}

/** The model as written, or the source's own `model` if the record has none. */
function model(group: InputGroup, { model_permaslug }: UsageRecord, columns: Columns): string {
  const own = model_permaslug.sql(columns)
  if (group.source.model === undefined) return own
  return `CASE WHEN ${model_permaslug.exists(columns)} THEN ${own} ELSE ${columns.setting('model')} END`
}

/** The bucket that a record sums; NULL for a record of anything else. */
function bucket({ bucket_end, bucket_of }: UsageRecord, columns: Columns): string {
  if (bucket_end === undefined || bucket_of === undefined) return 'NULL::STRUCT(end_us BIGINT, parts VARCHAR)'
  return `{'end_us': ${bucket_end.sql(columns)}, 'parts': ${bucket_of.sql(columns)}}`
}

function disagreement(conditions: Schema['parts_disagree'] = {}, columns: Columns): string {
  const cases = PARTS_DISAGREEMENTS.flatMap((reason) => {
    const condition = conditions[reason]
    return condition === undefined ? [] : [`WHEN ${condition.sql(columns)} THEN ${literal(reason)}`]
  })
  return cases.length === 0 ? 'NULL::VARCHAR' : `CASE ${cases.join(' ')} END`
}

/** The parts of the tokens of a record, by name: NULL for a part that it does not have, and for a total of 0. */
function partsOf(parts: Schema['parts'] = {}): Partial<Record<TokenPart | 'total', RecordField>> {
  const counted = Object.entries(parts).map(([name, part]): [string, RecordField] => {
    const count = (columns: Columns) => `CASE WHEN ${part.exists(columns)} THEN ${part.sql(columns)} END`
    return [name, (columns) => `${name === 'total' ? `nullif(${count(columns)}, 0)` : count(columns)}::BIGINT`]
  })
  return Object.fromEntries(counted)
}

/** Which of the source's own paths a record has: a bit for each. */
function pathsFound(source: Source, columns: Columns): string {
  const bits = ownPlaces(source).map(({ places }, position) => {
    const found = places.map((place) => place.value(columns).exists()).join(' OR ')
    return `CASE WHEN ${found} THEN ${2n ** BigInt(position)} ELSE 0 END`
  })
  return bits.length === 0 ? 'NULL::BIGINT' : `(${bits.join(' | ')})::BIGINT`
}

/** The first note that applies to a record. */
function noteOf(notes: Schema['notes'] = {}): Record<'note_kind' | 'note_name' | 'note_tokens', RecordField> {
  const kinds = NOTE_KINDS.filter((kind) => notes[kind] !== undefined)
  if (kinds.length === 0) {
    return { note_kind: () => 'NULL::VARCHAR', note_name: () => 'NULL::VARCHAR', note_tokens: () => '0::BIGINT' }
  }
  const nameOf = (kind: (typeof kinds)[number], columns: Columns) => notes[kind]?.name.sql(columns)
  const whichever = (columns: Columns, read: (kind: (typeof kinds)[number]) => string | undefined) =>
    `CASE ${kinds.map((kind) => `WHEN ${nameOf(kind, columns)} IS NOT NULL THEN ${read(kind)}`).join(' ')} END`
  return {
    note_kind: (columns) => whichever(columns, literal),
    note_name: (columns) => whichever(columns, (kind) => nameOf(kind, columns)),
    note_tokens: (columns) => {
      return `coalesce(${whichever(columns, (kind) => notes[kind]?.tokens?.sql(columns) ?? '0')}, 0)::BIGINT`
    },
  }
}

/**
 * The reason to reject an NDJSON line or an element of a list that is not an object. Of lines only asked without a timestamp,
 * because it parses the line again; an element may have its timestamp around it, and a file may have it in its path. Of a
 * line or an element without the list that its records should be in nobody knows how many are missing.
 */
function malformed(group: InputGroup, record: UsageRecord, columns: Columns): string {
  const { format, lists, pathColumns } = group
  if (format !== 'ndjson') return 'NULL::VARCHAR'
  const { timestamp, model_permaslug, prompt_tokens, completion_tokens } = record
  const isTimed = timestamp.exists(columns)
  const isOther = `NOT starts_with(ltrim(json), '{')`
  if (lists.length === 0) {
    const isAsked = pathColumns.length > 0 ? isOther : `(NOT (${isTimed}) AND ${isOther})`
    return columns.once(`CASE WHEN json IS NULL OR ${isAsked} THEN 'malformed_record' END`)
  }
  // An error in place of a page, or a bucket without its results, looks like a record outside of a list, but has no time, or
  // neither a model nor a count.
  const used = [model_permaslug, prompt_tokens, completion_tokens].flatMap(({ needs }) => needs.flat())
  const isUsed = [...new Set(used)].map((column) => columns.value(column).exists()).join(' OR ')
  const isMessage = group.mayBeUnwrapped ? ` OR (is_line AND NOT ((${isTimed}) AND (${isUsed})))` : ''
  return columns.once(
    `CASE WHEN json IS NULL${isMessage} THEN 'unreadable_document' WHEN ${isOther} THEN 'malformed_record' END`,
  )
}

interface GroupColumns {
  columns: Columns
  computed: ReadonlyMap<string, string>
  /** Texts of a source's own mapping, by variable. */
  texts: Record<string, string>
}

/**
 * How the fields of a group read its columns. `refer` may put a name in place of the SQL of a column, for rows that have
 * the column under that name.
 */
export function columnsOf(
  group: InputGroup,
  number: number,
  refer: (sql: string) => string = (sql) => sql,
): GroupColumns {
  const { format, positions, pathColumns, source, types, files } = group
  const relative = relativeTime(source)
  const computed = new Map<string, string>()
  const value = (column: string): Value => {
    const name = fileColumn(source, column)
    const inPath = pathColumns.indexOf(name)
    if (inPath >= 0) return textValue(refer(`path_${inPath}`), relative)
    const made = name === 'date' ? pathColumns.indexOf(MADE_DATE) : -1
    const position = positions.get(column)
    if (position === undefined) return made < 0 ? ABSENT : textValue(refer(`path_${made}`), relative)
    const json = `value[${position + 1}]`
    if (format === 'ndjson') {
      return jsonValue(refer(made < 0 ? json : `coalesce(${json}, to_json(path_${made}))`), relative)
    }
    if (format === 'csv') return textValue(refer(`c${position}`), relative)
    const label = `${files[0]?.name}: column ${JSON.stringify(fileColumn(source, column))}`
    return parquetValue(refer(`c${position}`), types[position] ?? '', {
      relative,
      label,
      isUtc: source.timezone === 'UTC',
    })
  }
  const once = (sql: string): string => {
    const name = computed.get(sql) ?? `computed_${computed.size}`
    computed.set(sql, name)
    return name
  }
  const setting = (name: Setting) =>
    name === 'model' && source.model === undefined ? 'NULL::VARCHAR' : `getvariable('${name}_${number}')`
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
