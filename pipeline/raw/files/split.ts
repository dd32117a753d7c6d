import { CsvScanner, wholeLineEnds } from './csv-scanner.ts'

const LINE_FEED = 0x0a

/** The limit of a record in every format. A longer one is rejected alone, as `malformed_record`. */
export const LONGEST_RECORD_BYTES = 67_108_864
export const LONGEST_RECORD = '64 MiB'
/** Stands for a longer record: neither JSON nor CSV with the fields of a header. */
export const TOO_LONG = Buffer.from(`a record longer than ${LONGEST_RECORD}`)

/** Joins pieces that are split across chunks, up to the longest record. */
export class Pieces {
  #begun: Buffer[] = []
  #bytes = 0

  end(last: Buffer): Buffer {
    if (this.#bytes === 0) return last
    this.keep(last)
    const piece = this.#bytes > LONGEST_RECORD_BYTES ? TOO_LONG : Buffer.concat(this.#begun)
    this.#begun = []
    this.#bytes = 0
    return piece
  }

  keep(beginning: Buffer): void {
    this.#bytes += beginning.length
    if (this.#bytes > LONGEST_RECORD_BYTES) this.#begun = []
    else if (beginning.length > 0) this.#begun.push(beginning)
  }

  rest(): Buffer[] {
    return this.#bytes === 0 ? [] : [this.end(Buffer.alloc(0))]
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
