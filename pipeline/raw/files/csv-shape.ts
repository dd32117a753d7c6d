import { isUtf8 } from 'node:buffer'
import { BuildError } from '../../base/errors.ts'
import { CsvScanner, type LineEnd, wholeLineEnds } from './csv-scanner.ts'
import { type OnRead, openOnce, passing } from './decompress.ts'
import type { InputFile } from './find.ts'
import { LONGEST_RECORD, LONGEST_RECORD_BYTES } from './split.ts'

const CONTINUATION = 0x80
const LEAD = 0xc0
/** A UTF-8 character has at most four bytes, so at most three come before a cut. */
const MOST_CUT_BYTES = 3

/** The shape of a CSV file by our own scan: DuckDB silently misreads some files. */
export interface CsvShape {
  /** Without the header and empty lines, with malformed records. */
  records: number
  longestRecordBytes: number
  lineEnds: ReadonlySet<LineEnd>
  hasQuotedLineEnds: boolean
  /** Whether the header has some: DuckDB takes the first line end of a file for that of its records. */
  isHeaderBroken: boolean
  /** Whether a quoted field has a doubled quote. */
  hasEscapedQuotes: boolean
  isUtf8: boolean
}

interface ShapeReading {
  signal: AbortSignal
  onRead?: OnRead
  onBytes?: (bytes: Buffer) => void
}

/**
 * Scans a CSV file and passes its bytes to `onBytes`. Throws `BuildError` that names file and record if the file is
 * cut, a quote is never closed or a record is too long.
 */
export async function readCsvShape(
  file: InputFile,
  delimiter: string,
  { signal, onRead = () => {}, onBytes = () => {} }: ShapeReading,
): Promise<CsvShape> {
  const scanner = new CsvScanner(delimiter)
  const text = new Utf8Check()
  let records = -1
  let longest = 0
  let begun = 0
  let quotedBefore = 0
  let isHeaderBroken = false
  // Such a record most likely has a quote too many, and would hide all records up to the next one.
  const check = (length: number, record: number) => {
    if (length <= LONGEST_RECORD_BYTES || scanner.quotedLineEnds === quotedBefore) return
    throw notWhole(
      file,
      `record ${record} is longer than ${LONGEST_RECORD} and has line ends within quotes: is a quote never closed?`,
    )
  }
  const end = (length: number) => {
    if (length > 0) records += 1
    check(length, records)
    if (records === 0) isHeaderBroken = scanner.quotedLineEnds > 0
    quotedBefore = scanner.quotedLineEnds
    longest = Math.max(longest, length)
  }
  for await (const chunk of wholeLineEnds(passing(openOnce(file, onRead), onBytes))) {
    signal.throwIfAborted()
    text.add(chunk)
    let start = -begun
    scanner.scan(chunk, (position, next) => {
      end(position - start)
      start = next
    })
    begun = chunk.length - start
    check(begun, records + 1)
  }
  end(begun)
  if (scanner.isQuoted) throw notWhole(file, `the quote that record ${records} opens is never closed`)
  const { lineEnds, quotedLineEnds, hasEscapedQuotes } = scanner
  return {
    records: Math.max(0, records),
    longestRecordBytes: longest,
    lineEnds,
    hasQuotedLineEnds: quotedLineEnds > 0,
    isHeaderBroken,
    hasEscapedQuotes,
    isUtf8: text.isWhole(),
  }
}

function notWhole(file: InputFile, reason: string): BuildError {
  return new BuildError(`${file.name} cannot be read whole: ${reason}`)
}

/** Whether bytes that come in chunks are UTF-8. */
export class Utf8Check {
  #cut: Buffer = Buffer.alloc(0)
  #isUtf8 = true

  add(chunk: Buffer): void {
    if (!this.#isUtf8 || chunk.length === 0) return
    const bytes = this.#cut.length === 0 ? chunk : Buffer.concat([this.#cut, chunk])
    const end = lastCharacter(bytes)
    this.#isUtf8 = isUtf8(bytes.subarray(0, end))
    this.#cut = Buffer.from(bytes.subarray(end))
  }

  isWhole(): boolean {
    return this.#isUtf8 && isUtf8(this.#cut)
  }
}

/** The start of the last character if it may continue in the next chunk, else the end of the bytes. */
function lastCharacter(bytes: Buffer): number {
  for (let place = bytes.length - 1; place >= 0 && place >= bytes.length - MOST_CUT_BYTES; place--) {
    const byte = bytes[place] ?? 0
    if (byte >= LEAD) return place
    if (byte < CONTINUATION) break
  }
  return bytes.length
}
