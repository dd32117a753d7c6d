import { BuildError } from '../../base/errors.ts'

/**
 * A value of a record as SQL over the macros of `base/macros.sql`, in each way that it can be read. SQL's NULL stands for
 * a value that is to be rejected, and in text for one that is not there.
 */
export interface Value {
  /** Whether the record has the column at all, be it empty or null. */
  exists(): string
  /** Microseconds since 1970, UTC. */
  instant(): string
  /** A count of tokens; a value that is absent, null or empty is 0. */
  count(): string
  text(): string
  /** Text, and not a number or a flag that JSON could also hold. */
  word(): string
  /** JSON, be it in the file as JSON, as text that holds JSON, or as a nested column. */
  json(): string
}

/** How a text that is a bare number becomes an instant, for sources with a `base_time`; undefined for the others. */
export type RelativeTime = ((text: string) => string) | undefined

/** A value that no record of the file has. */
export const ABSENT: Value = {
  exists: () => 'false',
  instant: () => 'NULL::BIGINT',
  count: () => '0::BIGINT',
  text: () => 'NULL::VARCHAR',
  word: () => 'NULL::VARCHAR',
  json: () => 'NULL::JSON',
}

/** A column of text, as CSV has it and Parquet may. */
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

/** JSON text: a member of a line of NDJSON, or of something nested. */
export function jsonValue(value: string, relative: RelativeTime): Value {
  return {
    exists: () => `${value} IS NOT NULL`,
    instant: () => relative?.(`text_from_json(${value})`) ?? `instant_from_text(string_from_json(${value}))`,
    count: () => `count_from_json(${value})`,
    text: () => `text_from_json(${value})`,
    word: () => `string_from_json(${value})`,
    json: () => `json_from_json(${value})`,
  }
}

const INTEGER_TYPE = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/
const FRACTION_TYPE = /^(FLOAT|DOUBLE|DECIMAL\(.*\))$/
const TIMESTAMP_TYPE = /^(DATE|TIMESTAMP(_S|_MS|_NS)?)$/

/**
 * A column of Parquet of this DuckDB type. `label` names it in the `BuildError` for a type that cannot be read so. Where
 * the source's zone is UTC, timestamps without an offset need no calendar, which takes longer than all else of a pass.
 */
export function parquetValue(
  column: string,
  type: string,
  { relative, label, isUtc }: { relative: RelativeTime; label: string; isUtc: boolean },
): Value {
  if (type === 'VARCHAR') return textValue(column, relative)
  if (type === 'JSON') return { ...jsonValue(column, relative), exists: () => 'true' }
  const refuse = (meaning: string): never => {
    throw new BuildError(`${label} has the Parquet type ${type}, which cannot be ${meaning}`)
  }
  return {
    exists: () => 'true',
    instant: () => {
      if (type === 'TIMESTAMP WITH TIME ZONE') return `epoch_us(${column})`
      if (TIMESTAMP_TYPE.test(type)) return `epoch_us(try_cast(${column} AS TIMESTAMP)${isUtc ? '' : '::TIMESTAMPTZ'})`
      if (INTEGER_TYPE.test(type)) return relative?.(`${column}::VARCHAR`) ?? 'NULL::BIGINT'
      // Written with a point, so that a floating column of whole numbers is still read as seconds.
      if (FRACTION_TYPE.test(type)) return relative?.(`${column}::DECIMAL(28, 9)::VARCHAR`) ?? 'NULL::BIGINT'
      return refuse('a timestamp')
    },
    count: () => {
      if (INTEGER_TYPE.test(type)) return `count_from_integer(${column})`
      if (FRACTION_TYPE.test(type)) return `count_from_fraction(${column})`
      return refuse('a token count')
    },
    text: () => `${column}::VARCHAR`,
    word: () => `${column}::VARCHAR`,
    json: () => `to_json(${column})`,
  }
}
