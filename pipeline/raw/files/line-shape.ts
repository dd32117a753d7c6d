import type { PlainRecords } from '../text/records.ts'
import type { InputFile } from './find.ts'
import { JsonLines } from './json-lines.ts'
import { RepeatedKeys } from './repeated-keys.ts'
import { Pieces, TOO_LONG } from './split.ts'

/** What DuckDB must be told of lines of JSON, or would misread in them. */
export interface LineShape {
  hasMark: boolean
  longestBytes: number
  /** Lines longer than the limit. */
  tooLong: number
  hasRepeatedKeys: boolean
}

const LINE_FEED = 0x0a
const LINE_END = Buffer.from('\n')
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
/** One for all files: its tables are large for thousands of small ones, and each scan is complete in itself. */
const KEYS = new RepeatedKeys()

/** Whether a file has a record of JSON on each line, and may be read in place. */
export function hasLines({ format, isDocument = false }: InputFile): boolean {
  return format === 'ndjson' && !isDocument
}

/** Reads lines to their end. Those that `plain` sums at the beginning are not scanned. */
export async function readLineShape(chunks: AsyncIterable<Buffer>, plain?: PlainRecords): Promise<LineShape> {
  const shape = newShape()
  for await (const _ of readableLines(withoutMark(chunks, shape), shape, plain));
  shape.longestBytes = Math.max(shape.longestBytes, plain?.longest ?? 0)
  return shape
}

export function newShape(): LineShape {
  return { hasMark: false, longestBytes: 0, tooLong: 0, hasRepeatedKeys: false }
}

/** The lines of a JSON file as DuckDB reads them right, one for each record or document. Fills `shape`. */
export function jsonLines(file: InputFile, chunks: AsyncIterable<Buffer>, shape: LineShape): AsyncIterable<Buffer> {
  const text = withoutMark(chunks, shape)
  return readableLines(hasLines(file) ? text : new JsonLines(file.name).of(text), shape)
}

/** Lines, of which those that are too long are replaced and repeated keys are removed. */
async function* readableLines(
  chunks: AsyncIterable<Buffer>,
  shape: LineShape,
  plain?: PlainRecords,
): AsyncIterable<Buffer> {
  for await (const all of wholeLines(chunks)) {
    const lines = all.subarray(plain?.read(all))
    if (lines.equals(TOO_LONG_LINE)) shape.tooLong += 1
    const found: { start: number; end: number; line: Buffer }[] = []
    KEYS.scan(lines, (start, end, line) => found.push({ start, end, line }))
    shape.longestBytes = Math.max(shape.longestBytes, KEYS.longest)
    if (found.length > 0) shape.hasRepeatedKeys = true
    let rest = 0
    for (const { start, end, line } of found) {
      yield lines.subarray(rest, start)
      yield line
      rest = end
    }
    yield lines.subarray(rest)
  }
}

const TOO_LONG_LINE = Buffer.concat([TOO_LONG, LINE_END])

/** The chunks, cut so that no line is split. The last line gets its line feed. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const pieces = new Pieces()
  for await (const chunk of chunks) {
    const first = chunk.indexOf(LINE_FEED)
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    // The chunk may be overwritten by the next one.
    if (first < 0) pieces.keep(Buffer.from(chunk))
    else {
      yield Buffer.concat([pieces.end(chunk.subarray(0, first)), LINE_END])
      yield chunk.subarray(first + 1, end)
      pieces.keep(Buffer.from(chunk.subarray(end)))
    }
  }
  for (const last of pieces.rest()) yield Buffer.concat([last, LINE_END])
}

async function* withoutMark(chunks: AsyncIterable<Buffer>, shape: LineShape): AsyncIterable<Buffer> {
  let begin: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (begin === undefined) {
      yield chunk
      continue
    }
    begin = Buffer.concat([begin, chunk])
    if (begin.length < BYTE_ORDER_MARK.length) continue
    shape.hasMark = begin.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    yield shape.hasMark ? begin.subarray(BYTE_ORDER_MARK.length) : begin
    begin = undefined
  }
  if (begin !== undefined) yield begin
}
