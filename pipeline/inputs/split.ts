const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const SPACE = 0x20

/** Pieces of a file that belong together, found in chunks that were cut anywhere. */
class Pieces {
  #begun: Buffer[] = []

  /** The piece that ends here, with what the chunks before held of it. */
  end(last: Buffer): Buffer {
    if (this.#begun.length === 0) return last
    const piece = Buffer.concat([...this.#begun, last])
    this.#begun = []
    return piece
  }

  /** Keeps the beginning of a piece whose end is in a later chunk. */
  keep(beginning: Buffer): void {
    if (beginning.length > 0) this.#begun.push(beginning)
  }

  /** What is left when there is no later chunk. */
  rest(): Buffer[] {
    return this.#begun.length === 0 ? [] : [this.end(Buffer.alloc(0))]
  }
}

/** The lines of a text without their ends, in batches; only a line feed ends a line, as in NDJSON. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer[]> {
  const pieces = new Pieces()
  for await (const chunk of chunks) {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      lines.push(pieces.end(chunk.subarray(start, end)))
      start = end + 1
    }
    pieces.keep(chunk.subarray(start))
    yield lines
  }
  yield pieces.rest()
}

/** Where in a record a byte lies: before a field, in one without quotes, in quotes, behind a quote within quotes. */
type Place = 'start' | 'plain' | 'quoted' | 'closed'

/**
 * The records of CSV text without their ends, the header and empty lines among them, in batches. A line feed, a carriage
 * return or both end a record; within quotes they belong to a field. A quote counts as one only where a field begins.
 */
export async function* splitCsv(chunks: AsyncIterable<Buffer>, delimiter: string): AsyncIterable<Buffer[]> {
  const pieces = new Pieces()
  const between = delimiter.charCodeAt(0)
  let place: Place = 'start'
  let isAfterReturn = false
  for await (const chunk of chunks) {
    const records: Buffer[] = []
    let start = 0
    for (let position = 0; position < chunk.length; position++) {
      const byte = chunk[position]
      if (place === 'quoted') {
        if (byte === QUOTE) place = 'closed'
      } else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        // The second byte of CRLF ends nothing.
        if (byte === CARRIAGE_RETURN || !isAfterReturn) records.push(pieces.end(chunk.subarray(start, position)))
        start = position + 1
        place = 'start'
      } else if (byte === between) place = 'start'
      else if (byte === QUOTE && (place === 'start' || place === 'closed')) place = 'quoted'
      else if (byte !== SPACE || place === 'plain') place = 'plain'
      isAfterReturn = byte === CARRIAGE_RETURN
    }
    pieces.keep(chunk.subarray(start))
    yield records
  }
  yield pieces.rest()
}
