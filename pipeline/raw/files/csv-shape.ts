import { BuildError } from '../../base/errors.ts'
import { CsvScanner, type LineEnd, wholeLineEnds } from './csv-scanner.ts'
import { type OnRead, openInput, passing } from './decompress.ts'
import type { InputFile } from './find.ts'
import { Utf8Check } from './utf8.ts'

/** What a CSV file is like, by a count of its own: DuckDB takes some files for others without a word. */
export interface CsvShape {
  /** Records behind the header, malformed ones among them; empty lines are none. */
  records: number
  longestRecordBytes: number
  lineEnds: ReadonlySet<LineEnd>
  /** Whether a quoted field holds a line end. */
  hasQuotedLineEnds: boolean
  /** Whether a quoted field holds a quote, written twice. */
  hasEscapedQuotes: boolean
  isUtf8: boolean
}

const MEBIBYTE = 1_048_576
/** A longer record is taken for a mistake, such as quotes that are never closed. */
export const LONGEST_RECORD_BYTES = 64 * MEBIBYTE

/**
 * Reads a CSV file to its end, and hands over its bytes as they pass. Throws `BuildError`, naming file and record, when
 * it cannot be read whole: it is cut, its last quotes are never closed, or a record is longer than any should be.
 */
export async function readCsvShape(
  file: InputFile,
  delimiter: string,
  { signal, onRead, onBytes = () => {} }: { signal: AbortSignal; onRead?: OnRead; onBytes?: (bytes: Buffer) => void },
): Promise<CsvShape> {
  const scanner = new CsvScanner(delimiter)
  const text = new Utf8Check()
  let records = -1
  let longest = 0
  let begun = 0
  const end = (length: number) => {
    if (length > 0) records += 1
    if (length > longest) longest = assertNotTooLong(length, file, records, scanner)
  }
  for await (const chunk of wholeLineEnds(passing(openInput(file, onRead), onBytes))) {
    signal.throwIfAborted()
    text.add(chunk)
    let start = -begun
    scanner.scan(chunk, (position, next) => {
      end(position - start)
      start = next
    })
    begun = chunk.length - start
    assertNotTooLong(begun, file, records + 1, scanner)
  }
  end(begun)
  if (scanner.isQuoted) throw notWhole(file, `the quote that record ${records} opens is never closed`)
  const { lineEnds, hasQuotedLineEnds, hasEscapedQuotes } = scanner
  return {
    records: Math.max(0, records),
    longestRecordBytes: longest,
    lineEnds,
    hasQuotedLineEnds,
    hasEscapedQuotes,
    isUtf8: text.isWhole(),
  }
}

function assertNotTooLong(length: number, file: InputFile, record: number, { isQuoted }: CsvScanner): number {
  if (length <= LONGEST_RECORD_BYTES) return length
  const hint = isQuoted ? ', or opens a quote that is never closed' : ''
  throw notWhole(file, `record ${record} is longer than ${LONGEST_RECORD_BYTES / MEBIBYTE} MiB${hint}`)
}

function notWhole(file: InputFile, reason: string): BuildError {
  return new BuildError(`${file.name} cannot be read whole: ${reason}`)
}
