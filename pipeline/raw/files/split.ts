import { CsvScanner, wholeLineEnds } from './csv-scanner.ts'

const LINE_FEED = 0x0a

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

/** The records of CSV text without their ends, the header and empty lines among them, in batches. */
export async function* splitCsv(chunks: AsyncIterable<Buffer>, delimiter: string): AsyncIterable<Buffer[]> {
  const pieces = new Pieces()
  const scanner = new CsvScanner(delimiter)
  for await (const chunk of wholeLineEnds(chunks)) {
    const records: Buffer[] = []
    let start = 0
    scanner.scan(chunk, (end, next) => {
      records.push(pieces.end(chunk.subarray(start, end)))
      start = next
    })
    pieces.keep(chunk.subarray(start))
    yield records
  }
  yield pieces.rest()
}
