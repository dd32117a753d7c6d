import { jsonValue, type Value } from './value.ts'

export interface Columns {
  value(column: string): Value
  /** Computes SQL once per record and returns a name for its result. */
  once(sql: string): string
  /** SQL for a setting of the source, bound as a variable. */
  setting(name: Setting): string
}

/** Settings of a source that expressions use. */
export type Setting = 'outside_from' | 'audio_inside_from'

/** The type of an expression, and thus the fields of a `UsageRecord` it may fill. */
export type Kind = 'instant' | 'count' | 'text' | 'key_hash' | 'amount' | 'flag' | 'condition'

export interface Expression<K extends Kind = Kind> {
  kind: K
  columns: readonly string[]
  /** Alternatives: a file must have one column of each set. */
  needs: readonly (readonly string[])[]
  sql(columns: Columns): string
  /** SQL: whether the record has a non-empty value here. */
  isPresent(columns: Columns): string
}

export type Place = string | { column: string; value(columns: Columns): Value }

/** The value at `keys` in a column of JSON, structs or maps. */
export function inside(column: string, ...keys: readonly string[]): Place {
  return {
    column,
    value: (columns) => {
      const json = columns.once(columns.value(column).json())
      return jsonValue(`json_extract(${json}, ${literal(keys.map(jsonPointer).join(''))})`, undefined)
    },
  }
}

/** An attribute in a column that has an object of attributes, or a list as OTLP writes it. */
export function attribute(column: string, key: string): Place {
  return {
    column,
    value: (columns) => {
      const attributes = columns.once(`attributes_from_json(${columns.value(column).json()})`)
      return jsonValue(`member_value(${attributes}, ${literal(key)})`, undefined)
    },
  }
}

export function over<K extends Kind>(
  kind: K,
  place: Place,
  sql: (value: Value, once: Columns['once']) => string,
): Expression<K> {
  const column = typeof place === 'string' ? place : place.column
  const value = (columns: Columns) => (typeof place === 'string' ? columns.value(place) : place.value(columns))
  return {
    kind,
    columns: [column],
    needs: [[column]],
    sql: (columns) => sql(value(columns), columns.once),
    isPresent: (columns) => `nullif(${value(columns).text()}, '') IS NOT NULL`,
  }
}

/** A timestamp: ISO 8601, in the source's zone without an offset, or relative to its `base_time`. */
export const instant = (place: Place) => over('instant', place, (value) => value.instant())

/** A calendar date, always a UTC day. */
export const utcDay = (place: Place) => over('instant', place, (value) => `instant_from_day(${value.text()})`)

/** Nanoseconds since 1970, cut to microseconds. */
export const unixNanoseconds = (place: Place) =>
  over('instant', place, (value) => `instant_from_nanoseconds(${value.text()})`)

/** A count of tokens (DESIGN.md §6.8); 0 if missing. */
export const count = (place: Place) => over('count', place, (value) => value.count())

export const text = (place: Place) => over('text', place, (value) => value.text())

/** Text only: a JSON number or flag is not a name. */
export const word = (place: Place) => over('text', place, (value) => value.word())

/** The SHA-256 of an API key in lower-case hex; NULL for anything else. */
export const keyHash = (place: Place) => over('key_hash', place, (value) => `key_hash_from_text(${value.text()})`)

/** An amount of USD; 0 if missing. */
export const amount = (place: Place) => over('amount', place, (value) => `amount_from_text(${value.text()})`)

/** A flag; false if missing. */
export const flag = (place: Place) => over('flag', place, (value) => `flag_from_text(${value.text()})`)

export const isPositive = (place: Place) => over('flag', place, (value) => `amount_from_text(${value.text()}) > 0`)

export const isTrue = (place: Place) =>
  over('condition', place, (value) => `coalesce(flag_from_text(${value.text()}), false)`)

/** Whether a text is one of some words, ignoring case. */
export const isOneOf = (place: Place, words: readonly string[]) =>
  over('condition', place, (value) => `coalesce(${isIn(value, words)}, false)`)

/** Whether a non-empty text is none of some words, ignoring case. */
export const isOtherThan = (place: Place, words: readonly string[]) =>
  over(
    'condition',
    place,
    (value) => `coalesce(nullif(${value.text()}, '') IS NOT NULL AND NOT ${isIn(value, words)}, false)`,
  )

function isIn(value: Value, words: readonly string[]): string {
  return `lower(${value.text()}) IN (${words.map((word) => literal(word.toLowerCase())).join(', ')})`
}

/** Whether a column has no attribute whose name starts with `prefix`. */
export const lacksAttributes = (column: string, prefix: string) =>
  over(
    'condition',
    column,
    (value, once) => `lacks_members(${once(`attributes_from_json(${value.json()})`)}, ${literal(prefix)})`,
  )

export function anyOf(...conditions: Expression<'condition'>[]): Expression<'condition'> {
  return combine('condition', conditions, (columns) => conditions.map((each) => `(${each.sql(columns)})`).join(' OR '))
}

/** SQL for a sum of counts, wide enough not to overflow. */
export function sumOf(parts: readonly Expression<'count'>[], columns: Columns): string {
  return parts.map((part) => `(${part.sql(columns)})::HUGEINT`).join(' + ')
}

/** Whether parts add up to more than the whole that includes them. */
export function areAbove(parts: readonly Expression<'count'>[], whole: Expression<'count'>): Expression<'condition'> {
  return combine('condition', [...parts, whole], (columns) => {
    const sum = sumOf(parts, columns)
    return `coalesce(${sum} > ${whole.sql(columns)}, false)`
  })
}

/** Whether parts do not add up to the total. A total of 0 counts as missing. */
export function areNotTotal(
  parts: readonly Expression<'count'>[],
  total: Expression<'count'>,
): Expression<'condition'> {
  return combine('condition', [...parts, total], (columns) => {
    const sum = sumOf(parts, columns)
    return `coalesce(${total.sql(columns)} > 0 AND ${sum} <> ${total.sql(columns)}, false)`
  })
}

/** The expression, computed once per record. */
export function shared<K extends Kind>(expression: Expression<K>): Expression<K> {
  return { ...expression, sql: (columns) => columns.once(expression.sql(columns)) }
}

/** The expression, for files that may lack its columns. */
export function optional<K extends Kind>(expression: Expression<K>): Expression<K> {
  return { ...expression, needs: [] }
}

/** `preferred` if the record has a value for it, else `fallback`. A file needs the columns of either. */
export function first<K extends Kind>(preferred: Expression<K>, fallback: Expression<K>): Expression<K> {
  return {
    ...combine(
      preferred.kind,
      [preferred, fallback],
      (columns) =>
        `CASE WHEN ${preferred.isPresent(columns)} THEN ${preferred.sql(columns)} ELSE ${fallback.sql(columns)} END`,
    ),
    needs: [[...new Set([...preferred.needs, ...fallback.needs].flat())]],
  }
}

/** One id from several texts, as a JSON list; NULL if an `essential` one is empty. */
export function joined(
  essential: readonly Expression<'text'>[],
  others: readonly Expression<'text'>[] = [],
): Expression<'text'> {
  const all = [...essential, ...others]
  return combine('text', all, (columns) => {
    const isWhole = essential.map((each) => each.isPresent(columns)).join(' AND ')
    const texts = all.map((each) => `nullif(${each.sql(columns)}, '')`).join(', ')
    return `CASE WHEN ${isWhole} THEN to_json([${texts}])::VARCHAR END`
  })
}

export function combine<K extends Kind>(
  kind: K,
  parts: readonly Expression[],
  sql: (columns: Columns) => string,
): Expression<K> {
  return {
    kind,
    columns: [...new Set(parts.flatMap(({ columns }) => columns))],
    needs: parts.flatMap(({ needs }) => needs),
    sql,
    isPresent: (columns) => parts.map((each) => `(${each.isPresent(columns)})`).join(' OR '),
  }
}

/** Text as an SQL literal. In SQL that a build runs, only for constants: bind texts of users and files instead. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A key as a JSON pointer (RFC 6901). */
export function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
