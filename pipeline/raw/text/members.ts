import { endOfScalar } from './fields.ts'

const [LINE_FEED, CARRIAGE_RETURN, SPACE, TAB, QUOTE] = [0x0a, 0x0d, 0x20, 0x09, 0x22]
const [OBJECT, OBJECT_END, COLON, COMMA] = [0x7b, 0x7d, 0x3a, 0x2c]

/** The members of a line of JSON: their names, what is written before each value, and what is behind the last one. */
export interface Members {
  names: string[]
  before: Buffer[]
  end: Buffer
}

/** A wider record is left to DuckDB. */
const MOST_MEMBERS = 1000

/** Undefined for what is not an object with members, with very many, with a key twice, with escapes in a key, or with lists or objects. */
export function membersOf(bytes: Buffer, start: number): Members | undefined {
  const names: string[] = []
  const before: Buffer[] = []
  let written = start
  let position = afterSpaces(bytes, start)
  if (bytes[position] !== OBJECT) return undefined
  do {
    const key = afterSpaces(bytes, position + 1)
    const keyEnd = bytes[key] === QUOTE ? endOfScalar(bytes, key) : -1
    if (keyEnd < 0) return undefined
    const name = bytes.toString('utf8', key + 1, keyEnd - 1)
    if (name.includes('\\') || names.includes(name) || names.length === MOST_MEMBERS) return undefined
    const colon = afterSpaces(bytes, keyEnd)
    if (bytes[colon] !== COLON) return undefined
    const value = afterSpaces(bytes, colon + 1)
    names.push(name)
    before.push(Buffer.from(bytes.subarray(written, value)))
    written = endOfScalar(bytes, value)
    if (written < 0) return undefined
    position = afterSpaces(bytes, written)
  } while (bytes[position] === COMMA)
  const last = afterSpaces(bytes, position + 1)
  const lineEnd = endOfLine(bytes, last)
  if (bytes[position] !== OBJECT_END || lineEnd === 0) return undefined
  return { names, before, end: Buffer.from(bytes.subarray(written, last + lineEnd)) }
}

/** The length of the line end at a position; 0 if there is none. */
export function endOfLine(bytes: Uint8Array, position: number): number {
  if (bytes[position] === LINE_FEED) return 1
  return bytes[position] === CARRIAGE_RETURN && bytes[position + 1] === LINE_FEED ? 2 : 0
}

function afterSpaces(bytes: Uint8Array, start: number): number {
  let position = start
  while (bytes[position] === SPACE || bytes[position] === TAB) position++
  return position
}
