import { jsonValue, type Value } from './value.ts'

/** A record as expressions read it. */
export interface Columns {
  /** What the record has in a column of the schema. */
  value(column: string): Value
  /** SQL that is to be computed once for a record, however often it is used: a name for its result. */
  once(sql: string): string
  /** A setting of the source: SQL for a value that is bound, never written. */
  setting(name: Setting): string
}

/** Settings of a source that expressions read, beside those that say how its values are written. */
export type Setting = 'outside_from' | 'audio_inside_from'

/** What an expression stands for, which is also where in a `UsageRecord` it may go. */
export type Kind = 'instant' | 'count' | 'text' | 'key_hash' | 'amount' | 'flag' | 'condition'

/** How a value of a `UsageRecord` comes from the columns of a schema. */
export interface Expression<K extends Kind = Kind> {
  kind: K
  /** Every column that is read. */
  columns: readonly string[]
  /** What a file must have: of each set one column at least. */
  needs: readonly (readonly string[])[]
  sql(columns: Columns): string
  /** SQL that says whether the record has anything here: not null, not empty. */
  isPresent(columns: Columns): string
}

/** Where a value lies: in a column, or inside what a column holds. */
export type Place = string | { column: string; value(columns: Columns): Value }

/** The member `keys` lead to, from the JSON object, struct or map in a column. */
export function inside(column: string, ...keys: readonly string[]): Place {
  return {
    column,
    value: (columns) => {
      const json = columns.once(columns.value(column).json())
      return jsonValue(`json_extract(${json}, ${literal(keys.map(jsonPointer).join(''))})`, undefined)
    },
  }
}

/** The attribute `key` of a column that holds attributes as an object, or as the list that OTLP writes. */
export function attribute(column: string, key: string): Place {
  return {
    column,
    value: (columns) => {
      const attributes = columns.once(`attributes_from_json(${columns.value(column).json()})`)
      return jsonValue(`member_value(${attributes}, ${literal(key)})`, undefined)
    },
  }
}

/** An expression over one place, by a function of its value. */
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

/** A timestamp: ISO 8601, in the source's zone where it has no offset; or relative to the source's `base_time`. */
export const instant = (place: Place) => over('instant', place, (value) => value.instant())

/** A calendar date, which is a UTC day whatever the source's zone. */
export const utcDay = (place: Place) => over('instant', place, (value) => `instant_from_day(${value.text()})`)

/** Whole nanoseconds since 1970, cut to microseconds. */
export const unixNanoseconds = (place: Place) =>
  over('instant', place, (value) => `instant_from_nanoseconds(${value.text()})`)

/** A count of tokens (DESIGN.md §6.8); 0 where there is none. */
export const count = (place: Place) => over('count', place, (value) => value.count())

/** Text, or whatever the file has there as text. */
export const text = (place: Place) => over('text', place, (value) => value.text())

/** Text, which a number is not: a name. */
export const word = (place: Place) => over('text', place, (value) => value.word())

/** The SHA-256 of an API key in lower-case hex; anything else is no key. */
export const keyHash = (place: Place) => over('key_hash', place, (value) => `key_hash_from_text(${value.text()})`)

/** An amount of USD; 0 where there is none. */
export const amount = (place: Place) => over('amount', place, (value) => `amount_from_text(${value.text()})`)

/** True or false; false where there is none. */
export const flag = (place: Place) => over('flag', place, (value) => `flag_from_text(${value.text()})`)

/** Whether an amount is more than 0. */
export const isPositive = (place: Place) => over('flag', place, (value) => `amount_from_text(${value.text()}) > 0`)

/** Whether a flag says true. */
export const isTrue = (place: Place) =>
  over('condition', place, (value) => `coalesce(flag_from_text(${value.text()}), false)`)

/** Whether a text is one of some words, in capital or small letters. */
export const isOneOf = (place: Place, words: readonly string[]) =>
  over('condition', place, (value) => `coalesce(${isIn(value, words)}, false)`)

/** Whether there is a text and it is none of some words. */
export const isOtherThan = (place: Place, words: readonly string[]) =>
  over(
    'condition',
    place,
    (value) => `coalesce(nullif(${value.text()}, '') IS NOT NULL AND NOT ${isIn(value, words)}, false)`,
  )

function isIn(value: Value, words: readonly string[]): string {
  return `lower(${value.text()}) IN (${words.map((word) => literal(word.toLowerCase())).join(', ')})`
}

/** Whether no attribute in a column has a name that begins so. */
export const lacksAttributes = (column: string, prefix: string) =>
  over(
    'condition',
    column,
    (value, once) => `lacks_members(${once(`attributes_from_json(${value.json()})`)}, ${literal(prefix)})`,
  )

/** Whether any of some conditions holds. */
export function anyOf(...conditions: Expression<'condition'>[]): Expression<'condition'> {
  return combine('condition', conditions, (columns) => conditions.map((each) => `(${each.sql(columns)})`).join(' OR '))
}

/** SQL for the sum of some counts, too wide to overflow. */
export function sumOf(parts: readonly Expression<'count'>[], columns: Columns): string {
  return parts.map((part) => `(${part.sql(columns)})::HUGEINT`).join(' + ')
}

/** Whether some counts together are more than another: the parts of a whole that is too small for them. */
export function areAbove(parts: readonly Expression<'count'>[], whole: Expression<'count'>): Expression<'condition'> {
  return combine('condition', [...parts, whole], (columns) => {
    const sum = sumOf(parts, columns)
    return `coalesce(${sum} > ${whole.sql(columns)}, false)`
  })
}

/** Whether there is a total, and some counts do not add up to it. A total of 0 is none. */
export function areNotTotal(
  parts: readonly Expression<'count'>[],
  total: Expression<'count'>,
): Expression<'condition'> {
  return combine('condition', [...parts, total], (columns) => {
    const sum = sumOf(parts, columns)
    return `coalesce(${total.sql(columns)} > 0 AND ${sum} <> ${total.sql(columns)}, false)`
  })
}

/** The same expression, computed once for a record although several others use it. */
export function shared<K extends Kind>(expression: Expression<K>): Expression<K> {
  return { ...expression, sql: (columns) => columns.once(expression.sql(columns)) }
}

/** The same, of a file that may do without its columns. */
export function optional<K extends Kind>(expression: Expression<K>): Expression<K> {
  return { ...expression, needs: [] }
}

/** The first of two expressions if the record has anything for it, else the second. A file needs the columns of one. */
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

/**
 * One id of several texts; none where any of `essential` is empty. Written as a JSON list, so that two ids are equal only
 * when each of their texts is, whatever characters these have.
 */
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

/** An expression over others, by a function that writes its SQL. */
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

/** A text of this project as a literal of SQL. Texts of users and files are bound, never written. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** RFC 6901. */
export function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
