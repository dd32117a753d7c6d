import { ABSENT, type Value, whichever, whicheverExists } from './value.ts'

export interface Columns {
  value(column: string): Value
  /** A value inside of another one, by SQL for its JSON text. */
  nested(json: string): Value
  /** Computes SQL once per record and returns a name for its result. */
  once(sql: string): string
  /** SQL for a setting of the source, bound as a variable. */
  setting(name: Setting): string
  /** SQL for a text of a mapping: a literal, or a bound variable if a user wrote the mapping. */
  constant(text: string): string
}

/** Settings of a source that expressions use. */
export type Setting = 'outside_from' | 'audio_inside_from' | 'model'

/** The type of an expression, and thus the fields of a `UsageRecord` it may fill. */
export type Kind = 'instant' | 'count' | 'text' | 'key_hash' | 'amount' | 'flag' | 'condition'

/** Its SQL stands in parentheses where it is more than a name, a call or a CASE: others put it beside any operator. */
export interface Expression<K extends Kind = Kind> {
  kind: K
  columns: readonly string[]
  /** The paths that it is read from, as mappings write them. */
  paths: readonly string[]
  /** Alternatives: a file must have one column of each set. */
  needs: readonly (readonly string[])[]
  sql(columns: Columns): string
  /** Whether records have as many values here as raw texts. */
  isText?: true
  /** SQL: whether the record has a non-empty value here. */
  isPresent(columns: Columns): string
  /** SQL: whether the record has the key at all. Otherwise a misspelled key would count as zero. */
  exists(columns: Columns): string
}

/** Where a value is: in a column, or inside the value of one. */
export interface Place {
  /** Alternatives: a file must have one of these columns. */
  columns: readonly string[]
  /** What mappings call it. */
  path: string
  value(columns: Columns): Value
}

export function column(name: string): Place {
  return { columns: [name], path: name, value: (columns) => columns.value(name) }
}

/** The value at `keys` in JSON, a struct or a map. JSON text on the way is the JSON that it is. */
export function inside(outer: Place, keys: readonly string[]): Place {
  return {
    ...outer,
    value: (columns) => {
      const value = outer.value(columns)
      if (value === ABSENT) return ABSENT
      const json = columns.once(value.json())
      const pointer = columns.constant(pointerTo(keys))
      if (keys.length === 1) return columns.nested(columns.once(`json_extract(${json}, ${pointer})`))
      // JSON text within JSON has a backslash before each of its quotes.
      const mayHaveText = columns.once(`contains(${json}, chr(92))`)
      const found = `json_inside(${json}, ${pointer}, ${mayHaveText}, ${stepsTo(keys, columns)})`
      return columns.nested(columns.once(found))
    },
  }
}

function pointerTo(keys: readonly string[]): string {
  return keys.map(jsonPointer).join('')
}

function stepsTo(keys: readonly string[], columns: Columns): string {
  return `[${keys.map((key) => columns.constant(jsonPointer(key))).join(', ')}]`
}

/** An attribute of an object of attributes, or of a list as OTLP writes it. */
export function attribute(attributes: Place, key: string): Place {
  return {
    ...attributes,
    value: (columns) => {
      if (attributes.value(columns) === ABSENT) return ABSENT
      return columns.nested(
        columns.once(`member_value(${attributesOf(attributes, columns)}, ${columns.constant(key)})`),
      )
    },
  }
}

function attributesOf(attributes: Place, columns: Columns): string {
  return columns.once(`attributes_from_json(${columns.once(attributes.value(columns).json())})`)
}

/** The first of two places that a record has. */
export function either(preferred: Place, other: Place): Place {
  return {
    columns: [...preferred.columns, ...other.columns],
    path: preferred.path,
    value: (columns) => whicheverExists(preferred.value(columns), () => other.value(columns)),
  }
}

/** The first of some places that has a value, as the fields of a record choose theirs. */
export function firstPresent(places: readonly [Place, ...Place[]]): Place {
  return places.reduceRight((fallback, preferred) => ({
    columns: [...preferred.columns, ...fallback.columns],
    path: preferred.path,
    value: (columns) => {
      const value = preferred.value(columns)
      return whichever(`nullif(${value.text()}, '') IS NOT NULL`, value, fallback.value(columns))
    },
  }))
}

/** The model of a place, or the one that the source names for all of its records. */
export function orOwnModel(place: Place): Place {
  return {
    ...place,
    value: (columns) => {
      const value = place.value(columns)
      return { ...value, text: () => `coalesce(nullif(${value.text()}, ''), ${columns.setting('model')})` }
    },
  }
}

export function over<K extends Kind>(
  kind: K,
  place: Place,
  sql: (value: Value, columns: Columns) => string,
): Expression<K> {
  return {
    kind,
    columns: place.columns,
    paths: [place.path],
    needs: [place.columns],
    sql: (columns) => sql(place.value(columns), columns),
    isPresent: (columns) => `(nullif(${place.value(columns).text()}, '') IS NOT NULL)`,
    exists: (columns) => place.value(columns).exists(),
  }
}

function asText<K extends Kind>(kind: K, place: Place, sql: (value: Value) => string): Expression<K> {
  return { ...over(kind, place, sql), isText: true }
}

/** A timestamp: ISO 8601, in the source's zone without an offset, or relative to its `base_time`. */
export const instant = (place: Place) => over('instant', place, (value) => value.instant())

/** A calendar date, always a UTC day. */
export const utcDay = (place: Place) => over('instant', place, (value) => `instant_from_day(${value.text()})`)

const MICROSECONDS = { s: 1_000_000, ms: 1000, us: 1 }

/** Unix time in a unit, cut to microseconds. */
export const unixTime = (place: Place, unit: 's' | 'ms' | 'us' | 'ns') =>
  over('instant', place, (value) =>
    unit === 'ns'
      ? `instant_from_nanoseconds(${value.text()})`
      : `instant_from_number(${value.text()}, 0, ${MICROSECONDS[unit]})`,
  )

/** A count of tokens: a non-negative integer up to 2^53 − 1; 0 if missing. */
export const count = (place: Place) => over('count', place, (value) => value.count())

export const text = (place: Place) => asText('text', place, (value) => value.text())

/** Text that is not one of some words. A record with one of these has no value here. */
export function textWithout(place: Place, words: readonly string[]): Expression<'text'> {
  const listed = words.map(literal).join(', ')
  const plain = text(place)
  const sql = (columns: Columns) => `CASE WHEN ${plain.sql(columns)} NOT IN (${listed}) THEN ${plain.sql(columns)} END`
  return { ...plain, sql, isPresent: (columns) => `(nullif(${sql(columns)}, '') IS NOT NULL)` }
}

/** Text only: a JSON number or flag is not a name. */
export const word = (place: Place) => asText('text', place, (value) => value.word())

/** The SHA-256 of an API key in lower-case hex; NULL for anything else. */
export const keyHash = (place: Place) => asText('key_hash', place, (value) => `key_hash_from_text(${value.text()})`)

/** An amount of USD; 0 if missing. */
export const amount = (place: Place) => over('amount', place, (value) => `amount_from_text(${value.text()})`)

/** A flag; false if missing. */
export const flag = (place: Place) => asText('flag', place, (value) => `flag_from_text(${value.text()})`)

export const isPositive = (place: Place) => over('flag', place, (value) => `(amount_from_text(${value.text()}) > 0)`)

/** Whether a flag has this value. */
export const isFlag = (place: Place, wanted: boolean) =>
  over('condition', place, (value) => {
    const flagged = `flag_from_text(nullif(${value.text()}, ''))`
    return `coalesce(${wanted ? '' : 'NOT '}${flagged}, false)`
  })

/** Whether a text is one of some words, ignoring case. */
export const isOneOf = (place: Place, words: readonly string[]) =>
  over('condition', place, (value, columns) => {
    const wanted = words.map((each) => lowered(each, columns)).join(', ')
    return `coalesce(lower(${value.text()}) IN (${wanted}), false)`
  })

/** What may stand before a name and is not seen. */
const UNSEEN = ' \u00a0\u200b\u2060\ufeff'

/** Whether a text begins so, ignoring case and what is not seen before it. */
export const startsWith = (place: Place, beginning: string) =>
  over('condition', place, (value, columns) => {
    const text = `lower(ltrim(${value.text()}, ${columns.constant(UNSEEN)}))`
    return `coalesce(starts_with(${text}, ${lowered(beginning, columns)}), false)`
  })

/** Beyond ASCII, DuckDB and JavaScript differ on some lower-case letters. */
function lowered(word: string, columns: Columns): string {
  const isAscii = /^\p{ASCII}*$/u.test(word)
  return isAscii ? columns.constant(word.toLowerCase()) : `lower(${columns.constant(word)})`
}

/** Whether an instant is of this UTC date or later. */
export const isSince = (place: Place, date: string) =>
  over('condition', place, (value) => `coalesce(${value.instant()} >= ${Date.parse(date)}000, false)`)

/** Whether paths may lead into a value. Text that is no JSON is not taken for nothing. */
export const hasMembers = (place: Place) =>
  over('condition', place, (value, columns) => `has_members(${columns.once(value.json())})`)

/** A place, and the keys from a column to what it is a member of. */
export interface Way {
  keys: readonly string[]
  place: Place
}

/** Whether paths may lead on from all that some ways lead through. Nothing is asked where each end has a value in it. */
export const leadOn = (outer: Place, ways: readonly Way[]) =>
  over('condition', outer, (value, columns) => {
    const ends = Map.groupBy(ways, ({ keys }) => pointerTo(keys))
    const areFound = [...ends.values()].map((each) => any(each.map(({ place }) => place.value(columns).exists())))
    const through = ways.flatMap(({ keys }) => keys.map((_, last) => keys.slice(0, last + 1)))
    const all = [...new Map(through.map((keys) => [pointerTo(keys), keys])).values()]
    const pointers = all.map((keys) => columns.constant(pointerTo(keys))).join(', ')
    // The last step, to the value itself, reads JSON text.
    const steps = all.map((keys) => `list_append(${stepsTo(keys, columns)}, '')`).join(', ')
    const asked = `leads_on(${columns.once(value.json())}, [${pointers}], [${steps}])`
    return `CASE WHEN ${areFound.join(' AND ')} THEN true ELSE ${asked} END`
  })

/** Whether a record has the key at all. */
export const isThere = (place: Place) => over('condition', place, (value) => value.exists())

export const isPresent = (place: Place) =>
  over('condition', place, (value) => `coalesce(nullif(${value.text()}, '') IS NOT NULL, false)`)

/** Whether there is an attribute whose name starts with `prefix`. True where nobody can tell. */
export const hasAttributes = (attributes: Place, prefix: string) =>
  over(
    'condition',
    attributes,
    (_, columns) => `(NOT lacks_members(${attributesOf(attributes, columns)}, ${columns.constant(prefix)}))`,
  )

export function not(condition: Expression<'condition'>): Expression<'condition'> {
  return { ...condition, sql: (columns) => `(NOT ${condition.sql(columns)})` }
}

/** Whether one of some conditions holds: none of none does. */
export function anyOf(...conditions: Expression<'condition'>[]): Expression<'condition'> {
  return combine('condition', conditions, (columns) => any(conditions.map((each) => each.sql(columns))))
}

export function allOf(...conditions: Expression<'condition'>[]): Expression<'condition'> {
  return not(anyOf(...conditions.map(not)))
}

function any(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'false' : `(${[...new Set(conditions)].join(' OR ')})`
}

/** '' where one instant, exclusive, is after the UTC day of another; NULL elsewhere. */
export function afterDay(start: Expression<'instant'>, end: Expression<'instant'>): Expression<'text'> {
  return combine('text', [start, end], (columns) => {
    const days = [`(${end.sql(columns)} - 1)`, start.sql(columns)].map((instant) => `${instant} // 86400000000`)
    return `CASE WHEN ${days.join(' > ')} THEN '' END`
  })
}

/** A sum of counts; NULL when one of them is NULL, or when it is more than a count may be. */
export function plus(counted: Expression<'count'>, others: readonly Expression<'count'>[]): Expression<'count'> {
  if (others.length === 0) return counted
  const sum = combine(
    'count',
    [counted, ...others],
    (columns) => `count_in_range(${sumOf([counted, ...others], columns)})`,
  )
  return { ...sum, ...asked(counted) }
}

/** What of a count says whether a file has it, for one that is computed with others. */
function asked({ needs, paths, exists }: Expression<'count'>) {
  return { needs, paths, exists }
}

/** A count of the records of which a condition holds; NULL for others. */
export function onlyWhere(condition: Expression<'condition'>, counted: Expression<'count'>): Expression<'count'> {
  const sql = (columns: Columns) => `CASE WHEN ${condition.sql(columns)} THEN ${counted.sql(columns)} END`
  return { ...combine('count', [counted, condition], sql), ...asked(counted) }
}

/** Whether two conditions hold. The second one is asked of few records: those of which the first one holds. */
export function onlyIf(first: Expression<'condition'>, second: Expression<'condition'>): Expression<'condition'> {
  const sql = (columns: Columns) => `CASE WHEN ${first.sql(columns)} THEN ${second.sql(columns)} ELSE false END`
  return combine('condition', [first, second], sql)
}

/** A count of the records of which a condition holds; 0 for others. */
export function countWhere(condition: Expression<'condition'>, counted: Expression<'count'>): Expression<'count'> {
  return combine(
    'count',
    [condition, counted],
    (columns) => `CASE WHEN ${condition.sql(columns)} THEN ${counted.sql(columns)} ELSE 0 END`,
  )
}

/** The greater of two counts; NULL when one of them is NULL. */
export function greater(one: Expression<'count'>, other: Expression<'count'>): Expression<'count'> {
  return combine('count', [one, other], (columns) => {
    const [a, b] = [one.sql(columns), other.sql(columns)]
    return `CASE WHEN ${a} >= ${b} THEN ${a} WHEN ${b} > ${a} THEN ${b} END`
  })
}

/** A count with what the total has more than both counts, of the records of which a condition holds. */
export function restOf(
  total: Expression<'count'>,
  counted: Expression<'count'>,
  other: Expression<'count'>,
  condition: Expression<'condition'>,
): Expression<'count'> {
  const sum = combine('count', [counted, other, total, condition], (columns) => {
    const [own, rest, all] = [counted.sql(columns), other.sql(columns), total.sql(columns)]
    const hasMore = `${condition.sql(columns)} AND ${all} > ${own} + ${rest}`
    return `CASE WHEN ${hasMore} THEN ${all} - ${rest} ELSE ${own} END`
  })
  return { ...sum, ...asked(counted) }
}

/** SQL for a sum of counts, wide enough not to overflow. */
export function sumOf(parts: readonly Expression<'count'>[], columns: Columns): string {
  return `(${parts.map((part) => `(${part.sql(columns)})::HUGEINT`).join(' + ')})`
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

/** Several texts as a JSON list, with null for each that is empty. */
export function listed(texts: readonly Expression<'text'>[]): Expression<'text'> {
  return combine('text', texts, (columns) => {
    return `to_json([${texts.map((each) => `nullif(${each.sql(columns)}, '')`).join(', ')}])::VARCHAR`
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
    paths: [...new Set(parts.flatMap(({ paths }) => paths))],
    needs: parts.flatMap(({ needs }) => needs),
    sql,
    isPresent: (columns) => any(parts.map((each) => each.isPresent(columns))),
    exists: (columns) => any(parts.map((each) => each.exists(columns))),
  }
}

/** The variant of a model as a suffix of its slug. */
export function withVariant(slug: Expression<'text'>, variant: Expression<'text'>): Expression<'text'> {
  const sql = (columns: Columns) => `slug_with_variant(${slug.sql(columns)}, ${variant.sql(columns)})`
  return { ...combine('text', [slug, variant], sql), needs: slug.needs, paths: slug.paths }
}

/** Text as an SQL literal. In SQL that a build runs, only for constants: bind texts of users and files instead. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A key as a JSON pointer (RFC 6901). */
export function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
