import { BuildError } from '../../base/errors.ts'

/** SQL that reads a value, with the macros of `base/macros.sql`. NULL means rejected, and for `text` missing. */
export interface Value {
  exists(): string
  /** Microseconds since 1970, UTC. */
  instant(): string
  /** A count of tokens; 0 if missing, null or empty. */
  count(): string
  text(): string
  /** Text, but not a JSON number or flag. */
  word(): string
  json(): string
}

/** SQL that reads a bare number as an instant, for sources with a `base_time`. */
export type RelativeTime = ((text: string) => string) | undefined

export const ABSENT: Value = {
  exists: () => 'false',
  instant: () => 'NULL::BIGINT',
  count: () => '0::BIGINT',
  text: () => 'NULL::VARCHAR',
  word: () => 'NULL::VARCHAR',
  json: () => 'NULL::JSON',
}

export function textValue(column: string, relative: RelativeTime): Value {
  return {
    exists: () => 'true',
    instant: () => relative?.(column) ?? `instant_from_text(${column})`,
    count: () => `count_from_text(${column})`,
    text: () => column,
    word: () => column,
    json: () => `json_from_text(${column})`,
  }
}

/** JSON text: a member of an NDJSON line or of a nested value. */
export function jsonValue(value: string, relative: RelativeTime): Value {
  return {
    exists: () => `(${value} IS NOT NULL)`,
    instant: () => relative?.(`text_from_json(${value})`) ?? `instant_from_text(string_from_json(${value}))`,
    count: () => `count_from_json(${value})`,
    text: () => `text_from_json(${value})`,
    word: () => `string_from_json(${value})`,
    json: () => `json_from_json(${value})`,
  }
}

/** The value that a record has: `preferred`, or else the other one. */
export function whicheverExists(preferred: Value, other: () => Value): Value {
  if (preferred === ABSENT) return other()
  const exists = preferred.exists()
  if (exists === 'true') return preferred
  return whichever(exists, preferred, other())
}

/** `preferred` where a condition in SQL holds, or else the other value. */
export function whichever(condition: string, preferred: Value, other: Value): Value {
  if (preferred === ABSENT) return other
  const choose = (read: (value: Value) => string) =>
    `CASE WHEN ${condition} THEN ${read(preferred)} ELSE ${read(other)} END`
  return {
    exists: () => `(${preferred.exists()} OR ${other.exists()})`,
    instant: () => choose((value) => value.instant()),
    count: () => choose((value) => value.count()),
    text: () => choose((value) => value.text()),
    word: () => choose((value) => value.word()),
    json: () => choose((value) => value.json()),
  }
}

const INTEGER_TYPE = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/
const FRACTION_TYPE = /^(FLOAT|DOUBLE|DECIMAL\(.*\))$/
const TIMESTAMP_TYPE = /^TIMESTAMP(_S|_MS|_NS)?$/

/** A Parquet column. `label` names it in the `BuildError` for a wrong type. UTC skips the calendar, which is slow. */
export function parquetValue(
  column: string,
  type: string,
  { relative, label, isUtc }: { relative: RelativeTime; label: string; isUtc: boolean },
): Value {
  if (type === 'VARCHAR') return textValue(column, relative)
  // Some programs write text without saying that it is text.
  if (type === 'BLOB') return textValue(`coalesce(TRY(decode(${column})), ${column}::VARCHAR)`, relative)
  if (type === 'JSON') return { ...jsonValue(column, relative), exists: () => 'true' }
  const text = () => {
    // Where a library has no value for a missing number, it writes NaN.
    if (/^(FLOAT|DOUBLE)$/.test(type)) return `nullif(${column}::VARCHAR, 'nan')`
    return TIMESTAMP_TYPE.test(type) ? `TRY(${column}::VARCHAR)` : `${column}::VARCHAR`
  }
  const refuse = (meaning: string): never => {
    throw new BuildError(`${label} has the Parquet type ${type}, which cannot be ${meaning}`)
  }
  return {
    exists: () => 'true',
    instant: () => {
      // A date alone is a UTC day.
      if (type === 'DATE') return `epoch_us(try_cast(${column} AS TIMESTAMP))`
      if (type === 'TIMESTAMP WITH TIME ZONE') return `epoch_us(${column})`
      if (TIMESTAMP_TYPE.test(type)) {
        const time = `try_cast(${column} AS TIMESTAMP)`
        // A cast to a zone fails at the ends of the calendar, even if it is tried.
        return isUtc ? `epoch_us(${time})` : `TRY(epoch_us(${time}::TIMESTAMPTZ))`
      }
      if (INTEGER_TYPE.test(type)) return relative?.(`${column}::VARCHAR`) ?? 'NULL::BIGINT'
      // The decimal point makes a floating column of whole numbers read as seconds.
      if (FRACTION_TYPE.test(type))
        return relative?.(`try_cast(${column} AS DECIMAL(28, 9))::VARCHAR`) ?? 'NULL::BIGINT'
      return refuse('a timestamp')
    },
    count: () => {
      if (INTEGER_TYPE.test(type)) return `count_from_integer(${column})`
      if (FRACTION_TYPE.test(type)) return `count_from_fraction(${column})`
      return refuse('a token count')
    },
    text,
    word: text,
    json: () => `json_from_value(${column})`,
  }
}
