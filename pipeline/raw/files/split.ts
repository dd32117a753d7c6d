import { CsvScanner, wholeLineEnds } from './csv-scanner.ts'

const LINE_FEED = 0x0a

/** Joins pieces that are split across chunks. */
class Pieces {
  #begun: Buffer[] = []

  end(last: Buffer): Buffer {
    if (this.#begun.length === 0) return last
    const piece = Buffer.concat([...this.#begun, last])
    this.#begun = []
    return piece
  }

  keep(beginning: Buffer): void {
    if (beginning.length > 0) this.#begun.push(beginning)
  }

  rest(): Buffer[] {
    return this.#begun.length === 0 ? [] : [this.end(Buffer.alloc(0))]
  }
}

/** The lines of NDJSON without their LF, in batches. */
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

/** The records of CSV without their line ends, in batches; includes the header and empty lines. */
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
