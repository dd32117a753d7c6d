const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const NONE = Buffer.alloc(0)
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const IS_SPECIAL = new Uint8Array(256)
for (const byte of [LINE_FEED, CARRIAGE_RETURN, QUOTE]) IS_SPECIAL[byte] = 1

export type LineEnd = 'LF' | 'CRLF' | 'CR'

/**
 * Finds the ends of CSV records as DuckDB does in a sequential read: line ends within quotes belong to the field, and
 * quotes open only at the start of a field, after optional spaces.
 */
export class CsvScanner {
  readonly lineEnds = new Set<LineEnd>()
  /** The line ends within quotes so far. */
  quotedLineEnds = 0
  hasEscapedQuotes = false
  readonly #delimiter: number
  #isQuoted = false
  /** The last chunk ended with a quote within quotes. The next byte says whether it closed them. */
  #isClosing = false
  /** The last byte of previous chunks that is not a space. */
  #before = LINE_FEED

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  get isQuoted(): boolean {
    return this.#isQuoted && !this.#isClosing
  }

  /** Scans a chunk of `wholeLineEnds`. `onEnd` gets each record's end and the start of the next record. */
  scan(chunk: Buffer, onEnd: (end: number, next: number) => void): void {
    let position = 0
    while (position < chunk.length) {
      if (this.#isQuoted) position = this.#leaveQuotes(chunk, position)
      else {
        while (IS_SPECIAL[chunk[position] ?? QUOTE] === 0) position += 1
        if (chunk[position] === QUOTE) {
          this.#isQuoted = this.#isFieldBegin(chunk, position)
          position += 1
        } else if (position < chunk.length) {
          const next = this.#lineEnd(chunk, position)
          onEnd(position, next)
          position = next
        }
      }
    }
    this.#before = lastButSpaces(chunk, chunk.length) ?? this.#before
  }

  /** The position behind the closing quote, or the chunk's end if the quote is in a later chunk. */
  #leaveQuotes(chunk: Buffer, start: number): number {
    let position = start
    if (this.#isClosing) {
      this.#isClosing = false
      if (chunk[position] !== QUOTE) {
        this.#isQuoted = false
        this.#before = QUOTE
        return position
      }
      this.hasEscapedQuotes = true
      position += 1
    }
    for (;;) {
      while (IS_SPECIAL[chunk[position] ?? QUOTE] === 0) position += 1
      if (position >= chunk.length) return position
      const byte = chunk[position]
      position += 1
      if (byte !== QUOTE) {
        this.quotedLineEnds += 1
        continue
      }
      if (position === chunk.length) {
        this.#isClosing = true
        return position
      }
      if (chunk[position] !== QUOTE) {
        this.#isQuoted = false
        return position
      }
      this.hasEscapedQuotes = true
      position += 1
    }
  }

  #isFieldBegin(chunk: Buffer, position: number): boolean {
    const before = lastButSpaces(chunk, position) ?? this.#before
    return before === this.#delimiter || before === LINE_FEED || before === CARRIAGE_RETURN
  }

  #lineEnd(chunk: Buffer, position: number): number {
    const isReturn = chunk[position] === CARRIAGE_RETURN
    const isBoth = isReturn && chunk[position + 1] === LINE_FEED
    this.lineEnds.add(isBoth ? 'CRLF' : isReturn ? 'CR' : 'LF')
    return position + (isBoth ? 2 : 1)
  }
}

function lastButSpaces(chunk: Buffer, end: number): number | undefined {
  let position = end - 1
  while (position >= 0 && chunk[position] === SPACE) position -= 1
  return chunk[position]
}

/** The chunks without a byte order mark, cut so that no CRLF is split. */
export async function* wholeLineEnds(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let held: Buffer = NONE
  let isBegin = true
  for await (const chunk of chunks) {
    const joined = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    if (isBegin && joined.length < BYTE_ORDER_MARK.length) {
      held = Buffer.from(joined)
      continue
    }
    const start =
      isBegin && joined.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
    isBegin = false
    const end = joined.length - (joined.at(-1) === CARRIAGE_RETURN ? 1 : 0)
    // The chunk may be overwritten by the next one.
    held = Buffer.from(joined.subarray(end))
    yield joined.subarray(start, end)
  }
  yield held
}
