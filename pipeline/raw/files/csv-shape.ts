import { BuildError } from '../../base/errors.ts'
import { LONGEST_PLAIN_LINE, type PlainRecords } from '../text/records.ts'
import { atLineFeeds } from './at-line-feeds.ts'
import { CsvScanner, type LineEnd, wholeLineEnds } from './csv-scanner.ts'
import { type OnRead, openOnce, passing } from './decompress.ts'
import type { InputFile } from './find.ts'
import { LONGEST_RECORD, LONGEST_RECORD_BYTES } from './split.ts'
import { Utf8Check } from './utf8.ts'

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
  /** Sums the records at the beginning, which are then not scanned. */
  plain?: PlainRecords | undefined
}

/**
 * Scans a CSV file and passes its bytes to `onBytes`. Throws `BuildError` that names file and record if the file is
 * cut, a quote is never closed or a record is too long.
 */
export async function readCsvShape(
  file: InputFile,
  delimiter: string,
  { signal, onRead = () => {}, onBytes = () => {}, plain }: ShapeReading,
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
  const chunks = wholeLineEnds(passing(openOnce(file, onRead), onBytes))
  for await (const all of plain === undefined ? chunks : atLineFeeds(chunks, LONGEST_PLAIN_LINE)) {
    signal.throwIfAborted()
    text.add(all)
    const isFirst = plain?.isPlain === true
    const chunk = all.subarray(plain?.read(all))
    if (plain?.lineEnd !== undefined && isFirst) {
      records = plain.records
      longest = plain.longest
    }
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
  if (plain?.lineEnd !== undefined) lineEnds.add(plain.lineEnd)
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
