import { isUtf8 } from 'node:buffer'

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, COLON, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x3a, 0x5c]
const [SMALL_D, SMALL_U] = [0x64, 0x75]
const [LIST, OBJECT] = [0x5b, 0x7b]

const IS_SPECIAL = new Uint8Array(256)
for (const byte of Buffer.from('"{}[]\n')) IS_SPECIAL[byte] = 1
const ENDS_TEXT = new Uint8Array(256)
for (const byte of Buffer.from('"\\\n')) ENDS_TEXT[byte] = 1

/** A power of two. */
const MOST_KEYS = 256
const MOST_DEPTH = 64
/** More would take seconds and too much memory to parse. */
const MOST_KEYS_PARSED = 500_000
const TOO_MANY_KEYS = Buffer.from(`a record with more than ${MOST_KEYS_PARSED} keys`)
const FNV_PRIME = 0x01000193

/**
 * Finds lines of JSON that DuckDB would not read as every parser does: with half of a character in a text, such as `\ud83d`
 * alone, for which U+FFFD is put, and with repeated keys, of which DuckDB takes the first. `JSON.parse`, Python and jq take the last, and a
 * logger that adds a field again means the later one. The scan compares hashes of the keys of each object, which costs a
 * fraction of a parser; only lines with equal hashes are parsed.
 */
export class RepeatedKeys {
  /** Bytes of the longest line of the last scan. */
  longest = 0
  /** What the last scan found. */
  hasRepeated = false
  hasHalves = false
  #hasHalf = false
  /** For each depth, the hashes of the keys of the open object, and in which object each was seen. */
  readonly #hashes = Array.from({ length: MOST_DEPTH }, () => new Int32Array(MOST_KEYS))
  readonly #seenIn = Array.from({ length: MOST_DEPTH }, () => new Int32Array(MOST_KEYS))
  readonly #open = new Int32Array(MOST_DEPTH)
  readonly #keys = new Int32Array(MOST_DEPTH)
  #objects = 0

  /** Scans whole lines. `onFound` gets each line that DuckDB would not read so, and the line as it does. */
  scan(lines: Buffer, onFound: (start: number, end: number, line: Buffer) => void): void {
    this.longest = 0
    this.hasRepeated = false
    this.hasHalves = false
    for (let start = 0; start < lines.length; ) {
      this.#hasHalf = false
      const { end, keys, mayRepeat } = this.#line(lines, start)
      this.longest = Math.max(this.longest, end - start)
      const line = lines.subarray(start, end)
      const whole = this.#hasHalf ? withoutHalves(line) : line
      const once = mayRepeat ? withLastKeys(whole, keys) : undefined
      if (once !== undefined) this.hasRepeated = true
      if (this.#hasHalf) this.hasHalves = true
      const readable = once ?? whole
      if (readable !== line) onFound(start, end, readable)
      start = end + 1
    }
  }

  #line(lines: Buffer, start: number): { end: number; keys: number; mayRepeat: boolean } {
    let position = start
    let depth = 0
    let keys = 0
    let mayRepeat = false
    for (;;) {
      while (IS_SPECIAL[lines[position] ?? LINE_FEED] === 0) position += 1
      const byte = lines[position] ?? LINE_FEED
      if (byte === LINE_FEED) return { end: position, keys, mayRepeat }
      position += 1
      if (byte === QUOTE) {
        const begin = position
        position = this.#endOfText(lines, begin)
        if (lines[position] !== QUOTE) continue
        let next = position + 1
        while (isSpace(lines[next])) next += 1
        if (lines[next] === COLON) {
          keys += 1
          if (this.#isRepeated(lines, begin, position, depth)) mayRepeat = true
        }
        position = next
      } else if (byte === OBJECT || byte === LIST) {
        depth += 1
        this.#begin(depth)
      } else depth -= 1
    }
  }

  /** The position of the closing quote, or of the line end if there is none. */
  #endOfText(lines: Buffer, start: number): number {
    let position = start
    for (;;) {
      while (ENDS_TEXT[lines[position] ?? LINE_FEED] === 0) position += 1
      if (lines[position] !== BACKSLASH) return position
      const length = lengthOfEscape(lines, position)
      if (length === 2 && halfAt(lines, position) !== undefined) this.#hasHalf = true
      position += lines[position + 1] === LINE_FEED ? 1 : length
    }
  }

  #begin(depth: number): void {
    this.#objects = (this.#objects + 1) | 0
    if (depth < MOST_DEPTH) {
      this.#open[depth] = this.#objects
      this.#keys[depth] = 0
    }
  }

  /** Whether a key may be one of the same object again. True where only a parser can tell. */
  #isRepeated(lines: Buffer, begin: number, end: number, depth: number): boolean {
    const [hashes, seenIn] = [this.#hashes[depth], this.#seenIn[depth]]
    if (hashes === undefined || seenIn === undefined) return true
    const keys = (this.#keys[depth] ?? 0) + 1
    if (keys === MOST_KEYS) return true
    let hash = end - begin
    for (let position = begin; position < end; position++) {
      const byte = lines[position] ?? 0
      if (byte === BACKSLASH) return true
      hash = Math.imul(hash ^ byte, FNV_PRIME)
    }
    this.#keys[depth] = keys
    const object = this.#open[depth]
    for (let tried = 0; tried < MOST_KEYS; tried++) {
      const slot = (hash + tried) & (MOST_KEYS - 1)
      if (seenIn[slot] !== object) {
        seenIn[slot] = object ?? 0
        hashes[slot] = hash
        return false
      }
      if (hashes[slot] === hash) return true
    }
    return true
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

/** Which half of a character an escape such as `\ud83d` is, if any. */
function halfAt(bytes: Buffer, position: number): 'first' | 'second' | undefined {
  if (bytes[position] !== BACKSLASH || bytes[position + 1] !== SMALL_U) return undefined
  if (((bytes[position + 2] ?? 0) | 0x20) !== SMALL_D) return undefined
  const code = Number.parseInt(bytes.toString('latin1', position + 2, position + 6), 16)
  if (code < 0xd800) return undefined
  return code < 0xdc00 ? 'first' : 'second'
}

/** The length of an escape; of both halves of a character together. */
function lengthOfEscape(bytes: Buffer, position: number): number {
  return halfAt(bytes, position) === 'first' && halfAt(bytes, position + 6) === 'second' ? 12 : 2
}

function withoutHalves(line: Buffer): Buffer {
  const whole = Buffer.from(line)
  for (let position = whole.indexOf(BACKSLASH); position >= 0; position = whole.indexOf(BACKSLASH, position)) {
    const length = lengthOfEscape(whole, position)
    if (length === 2 && halfAt(whole, position) !== undefined) whole.write('fffd', position + 2)
    position += length
  }
  return whole
}

/** A number as it is written: `JSON.parse` would round it. */
const rawNumber = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON

/** A line of JSON with the last of each key; undefined if none of its `keys` repeats, or if DuckDB rejects it. */
function withLastKeys(line: Buffer, keys: number): Buffer | undefined {
  if (!isUtf8(line)) return undefined
  if (keys > MOST_KEYS_PARSED) return TOO_MANY_KEYS
  const text = line.toString('utf8')
  for (const read of [() => text, () => withoutExtensions(text)]) {
    try {
      return lastKeysOf(read(), keys)
    } catch (error) {
      // Also a value within too many others.
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    }
  }
  return undefined
}

function lastKeysOf(text: string, keys: number): Buffer | undefined {
  let members = 0
  const reviver = (_: string, value: unknown, { source = '' }: { source?: string }) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) members += Object.keys(value).length
    return typeof value === 'number' ? rawNumber(source) : value
  }
  const value: unknown = JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
  return members === keys ? undefined : Buffer.from(JSON.stringify(value))
}

/** Texts, and what DuckDB reads although it is no JSON: numbers that are none, and commas before a closing bracket. */
const TEXT_OR_EXTENSION = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?(?:infinity|inf|nan)(?!\s*:)|(?<=[^{[,\s]\s*),(?=\s*[}\]])/gi

/** The same as JSON. DuckDB sees no difference between `NaN` and `"NaN"` either. */
function withoutExtensions(text: string): string {
  return text
    .trim()
    .replace(TEXT_OR_EXTENSION, (found) => (found[0] === '"' ? found : found === ',' ? '' : `"${found}"`))
}
