import { PLACES, type RecordValues } from './groups.ts'
import type { Role } from './layout.ts'
import { isDigit, TimestampReader } from './timestamp.ts'

/**
 * Reads one value into the values of its record. Returns the position behind it, or -1 if DuckDB might read it otherwise.
 * What comes behind the value is checked by the caller. The bytes end with a line feed, which ends every value.
 */
export type FieldReader = (bytes: Uint8Array, position: number) => number

/** The reader of a column. `key` is its place among the key columns. */
export type FieldReaders = (role: Role, key: number) => FieldReader

const [SPACE, QUOTE, POINT, MINUS, ZERO, BACKSLASH] = [0x20, 0x22, 0x2e, 0x2d, 0x30, 0x5c]
const [CAPITAL_E, SMALL_E, SMALL_U] = [0x45, 0x65, 0x75]
const NULL = Buffer.from('null')
const WORDS = [NULL, Buffer.from('true'), Buffer.from('false')]

const HASH_FACTOR = 0x01000193

/** Readers of CSV fields. Doubled quotes and line ends within quotes are left to DuckDB. */
export function csvFields(values: RecordValues, delimiter: number, isUtc: boolean): FieldReaders {
  const endsQuoted = new Uint8Array(256).fill(1, 0, SPACE)
  endsQuoted[QUOTE] = 1
  const endsPlain = endsQuoted.slice()
  endsPlain[delimiter] = 1
  const text = (read: (stops: Uint8Array) => FieldReader) => quotable(read(endsPlain), read(endsQuoted))
  const skip = text((stops) => (bytes, position) => endOfText(bytes, position, stops))
  const same = (read: FieldReader) => quotable(read, read)
  return (role, key) => {
    if (role === 'timestamp') return same(timestampReader(values, isUtc))
    if (role === 'prompt') return same(countReader(values, PLACES.prompt))
    if (role === 'completion') return same(countReader(values, PLACES.completion))
    if (role === 'cost') return same(costReader(values))
    if (role === 'key') return text((stops) => keyReader(values, key, stops))
    if (role === 'id') return text((stops) => idReader(values, stops))
    return skip
  }
}

function quotable(plain: FieldReader, quoted: FieldReader): FieldReader {
  return (bytes, position) => {
    if (bytes[position] !== QUOTE) return plain(bytes, position)
    const end = quoted(bytes, position + 1)
    return bytes[end] === QUOTE ? end + 1 : -1
  }
}

function endOfText(bytes: Uint8Array, start: number, stops: Uint8Array): number {
  let position = start
  while (stops[bytes[position] as number] === 0) position++
  return position
}

function idReader(values: RecordValues, stops: Uint8Array): FieldReader {
  return (bytes, position) => {
    const end = endOfText(bytes, position, stops)
    values.summed[PLACES.id] = end > position ? 1 : 0
    return end
  }
}

function keyReader(values: RecordValues, key: number, stops: Uint8Array): FieldReader {
  return (bytes, start) => {
    let position = start
    let { hash } = values
    for (let byte = bytes[position] as number; stops[byte] === 0; byte = bytes[++position] as number) {
      hash = Math.imul(hash ^ byte, HASH_FACTOR)
    }
    values.hash = Math.imul(hash ^ key, HASH_FACTOR)
    values.starts[key] = start
    values.ends[key] = position
    return position
  }
}

function timestampReader(values: RecordValues, isUtc: boolean): FieldReader {
  const reader = new TimestampReader(isUtc)
  return (bytes, position) => {
    const end = reader.read(bytes, position)
    values.day = reader.day
    return end
  }
}

const MOST_COUNT_DIGITS = 15

/** Digits without leading zeros; none count as 0. */
function countReader({ summed }: RecordValues, place: number): FieldReader {
  return (bytes, start) => {
    let position = start
    let count = 0
    for (let byte = bytes[position]; isDigit(byte); byte = bytes[++position]) count = count * 10 + (byte - ZERO)
    summed[place] = count
    const digits = position - start
    return digits > MOST_COUNT_DIGITS || (digits > 1 && bytes[start] === ZERO) ? -1 : position
  }
}

const MOST_DOLLAR_DIGITS = 6
/** Costs are summed in units of the last of these digits. */
const MOST_FRACTION_DIGITS = 9
const UNITS = Array.from({ length: MOST_FRACTION_DIGITS + 1 }, (_, digits) => 10 ** (MOST_FRACTION_DIGITS - digits))

/** A decimal number without sign, exponent or leading zeros; none counts as 0. */
function costReader({ summed }: RecordValues): FieldReader {
  return (bytes, start) => {
    let position = start
    let units = 0
    for (let byte = bytes[position]; isDigit(byte); byte = bytes[++position]) units = units * 10 + (byte - ZERO)
    const digits = position - start
    if (digits > MOST_DOLLAR_DIGITS || (digits > 1 && bytes[start] === ZERO)) return -1
    let fraction = 0
    if (digits > 0 && bytes[position] === POINT) {
      const begin = ++position
      for (let byte = bytes[position]; isDigit(byte); byte = bytes[++position]) units = units * 10 + (byte - ZERO)
      fraction = position - begin
      if (fraction === 0 || fraction > MOST_FRACTION_DIGITS) return -1
    }
    summed[PLACES.cost] = units * (UNITS[fraction] as number)
    return position
  }
}

/** Readers of JSON values. Lists and objects are left to DuckDB. */
export function jsonFields(values: RecordValues, isUtc: boolean): FieldReaders {
  return (role, key) => {
    if (role === 'timestamp') return stringOf(timestampReader(values, isUtc))
    if (role === 'prompt') return numberOrNull(values, PLACES.prompt, countReader(values, PLACES.prompt))
    if (role === 'completion') return numberOrNull(values, PLACES.completion, countReader(values, PLACES.completion))
    if (role === 'cost') return numberOrNull(values, PLACES.cost, costReader(values))
    if (role === 'key') return jsonKeyReader(values, key)
    if (role === 'id') return jsonIdReader(values)
    return endOfScalar
  }
}

function stringOf(read: FieldReader): FieldReader {
  return (bytes, position) => {
    if (bytes[position] !== QUOTE) return -1
    const end = read(bytes, position + 1)
    return bytes[end] === QUOTE ? end + 1 : -1
  }
}

function numberOrNull({ summed }: RecordValues, place: number, read: FieldReader): FieldReader {
  return (bytes, position) => {
    if (isDigit(bytes[position])) return read(bytes, position)
    summed[place] = 0
    return isAt(bytes, position, NULL) ? position + NULL.length : -1
  }
}

/** The JSON of a value as it stands. Numbers that DuckDB may write in another way are left to it. */
function jsonKeyReader(values: RecordValues, key: number): FieldReader {
  return (bytes, start) => {
    let { hash } = values
    let position = start + 1
    if (bytes[start] === QUOTE) {
      for (let byte = bytes[position] as number; ENDS_STRING[byte] === 0; byte = bytes[++position] as number) {
        hash = Math.imul(hash ^ byte, HASH_FACTOR)
      }
      position = bytes[position] === QUOTE ? position + 1 : endOfString(bytes, start)
    } else position = endOfScalar(bytes, start)
    if (position < 0 || (isNumber(bytes[start]) && !isPlainInteger(bytes, start, position))) return -1
    values.hash = Math.imul(hash ^ key ^ (position - start), HASH_FACTOR)
    values.starts[key] = start
    values.ends[key] = position
    return position
  }
}

function jsonIdReader({ summed }: RecordValues): FieldReader {
  return (bytes, position) => {
    const end = endOfScalar(bytes, position)
    const isEmpty = isAt(bytes, position, NULL) || (bytes[position] === QUOTE && end === position + 2)
    summed[PLACES.id] = isEmpty ? 0 : 1
    return end
  }
}

/** The position behind a string, a number, a word; -1 for anything else. */
export function endOfScalar(bytes: Uint8Array, start: number): number {
  if (bytes[start] === QUOTE) return endOfString(bytes, start)
  if (isNumber(bytes[start])) return endOfNumber(bytes, start)
  const word = WORDS.find((each) => isAt(bytes, start, each))
  return word === undefined ? -1 : start + word.length
}

const ENDS_STRING = new Uint8Array(256).fill(1, 0, SPACE)
for (const byte of [QUOTE, BACKSLASH]) ENDS_STRING[byte] = 1
const IS_ESCAPED = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) IS_ESCAPED[byte] = 1

function endOfString(bytes: Uint8Array, start: number): number {
  for (let position = start + 1; ; ) {
    position = endOfText(bytes, position, ENDS_STRING)
    if (bytes[position] === QUOTE) return position + 1
    if (bytes[position] !== BACKSLASH) return -1
    const escaped = bytes[position + 1] as number
    if (IS_ESCAPED[escaped] === 1) position += 2
    else if (escaped === SMALL_U && isCharacter(bytes, position + 2)) position += 6
    else return -1
  }
}

/** Whether four digits are those of a character, and not of half of one or of the character zero. */
function isCharacter(bytes: Uint8Array, position: number): boolean {
  const digits = String.fromCharCode(...bytes.subarray(position, position + 4))
  return /^[0-9a-f]{4}$/i.test(digits) && digits !== '0000' && !/^d[89a-f]/i.test(digits)
}

const MOST_NUMBER_LENGTH = 40
const MOST_EXPONENT_DIGITS = 2

function isNumber(byte: number | undefined): boolean {
  return byte === MINUS || isDigit(byte)
}

/** A number by the grammar of JSON. One that is very long, or may be infinite, is left to DuckDB. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start
  let position = endOfDigits(bytes, first)
  if (position === first || (bytes[first] === ZERO && position > first + 1)) return -1
  if (bytes[position] === POINT) {
    const fraction = position + 1
    position = endOfDigits(bytes, fraction)
    if (position === fraction) return -1
  }
  if (bytes[position] === SMALL_E || bytes[position] === CAPITAL_E) {
    const exponent = position + (bytes[position + 1] === MINUS ? 2 : 1)
    position = endOfDigits(bytes, exponent)
    if (position === exponent || position - exponent > MOST_EXPONENT_DIGITS) return -1
  }
  return position - start > MOST_NUMBER_LENGTH ? -1 : position
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let position = start
  while (isDigit(bytes[position])) position++
  return position
}

function isPlainInteger(bytes: Uint8Array, start: number, end: number): boolean {
  return endOfDigits(bytes, start) === end && end - start <= MOST_COUNT_DIGITS
}

function isAt(bytes: Uint8Array, position: number, text: Uint8Array): boolean {
  let same = 0
  while (same < text.length && bytes[position + same] === text[same]) same++
  return same === text.length
}
