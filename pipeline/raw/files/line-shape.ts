import { z } from 'zod'
import { jsonIfAny } from '../../base/json.ts'
import type { InputFile } from './find.ts'
import { type Documents, JsonLines } from './json-lines.ts'
import { RepeatedKeys } from './repeated-keys.ts'
import { Pieces, TOO_LONG } from './split.ts'

/** What DuckDB must be told of lines of JSON, or would misread in them. */
export interface LineShape {
  hasMark: boolean
  longestBytes: number
  /** Lines longer than the limit. */
  tooLong: number
  hasRepeatedKeys: boolean
  /** Whether half of a character stood in a text, such as `\ud83d` alone, which DuckDB takes for no JSON. */
  hasHalves: boolean
  /** Whether the last line has no line end and is not whole: it may still be written. */
  isCut: boolean
  /** Whether the last line is a page that says that more pages follow. */
  hasMorePages: boolean
}

const [LINE_FEED, SPACE] = [0x0a, 0x20]
const LINE_END = Buffer.from('\n')
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
/** One for all files: its tables are large for thousands of small ones, and each scan is complete in itself. */
const KEYS = new RepeatedKeys()

/** Whether a file has a record of JSON on each line, and may be read in place. */
export function hasLines({ format, isDocument = false }: InputFile): boolean {
  return format === 'ndjson' && !isDocument
}

/** Reads lines to their end. */
export async function readLineShape(chunks: AsyncIterable<Buffer>): Promise<LineShape> {
  const shape = newShape()
  for await (const _ of readableLines(withoutMark(chunks, shape), shape));
  return shape
}

export function newShape(): LineShape {
  return {
    hasMark: false,
    longestBytes: 0,
    tooLong: 0,
    hasRepeatedKeys: false,
    hasHalves: false,
    isCut: false,
    hasMorePages: false,
  }
}

/** The lines of a JSON file as DuckDB reads them right, one for each record or document. Fills `shape`. */
export function jsonLines(
  file: InputFile,
  chunks: AsyncIterable<Buffer>,
  shape: LineShape,
  documents: Documents = 'whole',
): AsyncIterable<Buffer> {
  const text = withoutMark(chunks, shape)
  return readableLines(hasLines(file) ? text : new JsonLines(file.name, documents).of(text), shape)
}

/** Lines, of which those that are too long are replaced; repeated keys and halves of characters are removed. */
async function* readableLines(chunks: AsyncIterable<Buffer>, shape: LineShape): AsyncIterable<Buffer> {
  let last: Buffer = Buffer.alloc(0)
  for await (const lines of wholeLines(chunks, shape)) {
    if (lines.equals(TOO_LONG_LINE)) shape.tooLong += 1
    const found: { start: number; end: number; line: Buffer }[] = []
    KEYS.scan(lines, (start, end, line) => found.push({ start, end, line }))
    shape.longestBytes = Math.max(shape.longestBytes, KEYS.longest)
    shape.hasRepeatedKeys ||= KEYS.hasRepeated
    shape.hasHalves ||= KEYS.hasHalves
    let rest = 0
    for (const { start, end, line } of found) {
      yield lines.subarray(rest, start)
      yield line
      rest = end
    }
    yield lines.subarray(rest)
    last = lastLine(lines) ?? last
  }
  shape.hasMorePages = saysMore(last)
}

/** The last line that is not blank, as a copy: a chunk may be overwritten by the next one. */
function lastLine(lines: Buffer): Buffer | undefined {
  let end = lines.length
  while (end > 0 && (lines[end - 1] ?? 0) <= SPACE) end -= 1
  return end === 0 ? undefined : Buffer.from(lines.subarray(lines.lastIndexOf(LINE_FEED, end - 1) + 1, end))
}

const MAY_SAY_MORE = /"has_more"\s*:\s*true|"(next_page|next_cursor|next|cursor)"\s*:\s*"|"totalPages"/
const Named = z.string().min(1)
const Before = z.object({ page: z.int(), totalPages: z.int() }).refine(({ page, totalPages }) => page < totalPages)
/** A page that says, in the way of the API that it comes from, that more pages follow. */
const PageBeforeOthers = z.union([
  z.object({ has_more: z.literal(true) }),
  z.object({ next_page: Named }),
  z.object({ next_cursor: Named }),
  z.object({ cursors: z.object({ next: Named }) }),
  z.object({ meta: z.object({ cursor: Named }).or(Before) }),
])

function saysMore(line: Buffer): boolean {
  const text = line.toString()
  return MAY_SAY_MORE.test(text) && PageBeforeOthers.safeParse(jsonIfAny(text)).success
}

const TOO_LONG_LINE = Buffer.concat([TOO_LONG, LINE_END])

/** The chunks, cut so that no line is split. The last line gets its line feed. */
async function* wholeLines(chunks: AsyncIterable<Buffer>, shape: LineShape): AsyncIterable<Buffer> {
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
  for (const last of pieces.rest()) {
    const text = last.toString().trim()
    shape.isCut = text !== '' && jsonIfAny(text) === undefined
    yield Buffer.concat([last, LINE_END])
  }
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
