import { createWriteStream, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BuildError } from '../../base/errors.ts'
import { sideBySide } from '../../base/side-by-side.ts'
import { delimiterOf } from './columns.ts'
import { type Contents, isText } from './content.ts'
import type { CsvShape } from './csv-shape.ts'
import { openInput, readHead } from './decompress.ts'
import type { Compression, InputFile } from './find.ts'
import type { Documents } from './json-lines.ts'
import { jsonLines, type LineShape, newShape } from './line-shape.ts'
import { LONGEST_RECORD, LONGEST_RECORD_BYTES, splitCsv } from './split.ts'

/**
 * How DuckDB must read a CSV file. In parallel it guesses where records begin and silently fails after a line end
 * within quotes: read such a file in order. Records over 2 MB need larger buffers.
 */
export type CsvReading = 'parallel' | 'ordered' | 'large'

/** DuckDB's default limit. */
const LARGE_RECORD_BYTES = 2_000_000

/** A file under a name made by this project, so that no user's file name gets into SQL. */
export interface LinkedFile extends InputFile {
  link: string
  compression: Compression
  csvReading: CsvReading
  /**
   * DuckDB misparses skipped columns that contain escaped quotes and fails on skipped bytes that are not UTF-8. True
   * for such CSV files and for those not scanned: read every column.
   */
  readsAllColumns: boolean
  /** The number of records in a scanned CSV file, without the header, with malformed records. */
  csvRecords: number | undefined
  lines?: LineShape
  /** Why the link is a copy: what DuckDB cannot read in place, and what to do about it. */
  copied?: string
}

/** Of a file that is not scanned. */
export const UNKNOWN = { csvReading: 'ordered', readsAllColumns: true, csvRecords: undefined } as const

const PARQUET_MAGIC = Buffer.from('PAR1')

/**
 * Links each file into `folder` under a plain name, so that characters in its own name never act as a pattern. Files
 * that DuckDB cannot read in place, or would misread, are rewritten.
 */
export async function linkFiles(
  files: readonly InputFile[],
  folder: string,
  { wanted, contents, documents = 'whole' }: { wanted: readonly string[]; contents: Contents; documents?: Documents },
): Promise<LinkedFile[]> {
  return sideBySide(files, async (file, position) => {
    const link = join(folder, `${position}.${file.format}`)
    if (file.format === 'parquet') return linkParquet(file, link)
    const { csv, lines } = isText(file) ? await contents.of(file) : {}
    return csv === undefined ? linkJson(file, link, lines, documents) : linkCsv(file, link, wanted, csv)
  })
}

export function asRead(file: LinkedFile): InputFile {
  return { ...file, path: file.link }
}

/** A copy is plain text, whatever its file is. */
function copyOf(file: InputFile, link: string, copied: string): LinkedFile {
  return { ...file, ...UNKNOWN, link, copied, compression: 'uncompressed', layers: undefined }
}

export async function linkParquet(file: InputFile, link: string): Promise<LinkedFile> {
  if (file.compression === 'uncompressed') {
    symlinkSync(file.path, link)
    return { ...file, ...UNKNOWN, link }
  }
  // Check before decompressing: a small file may decompress to more than the disk holds.
  const head = await readHead(file, PARQUET_MAGIC.length)
  if (!head.equals(PARQUET_MAGIC)) throw new BuildError(`${file.name} cannot be read whole: it is not Parquet`)
  await pipeline(openInput(file), createWriteStream(link))
  return copyOf(file, link, 'is compressed Parquet; decompress it')
}

async function linkJson(
  file: InputFile,
  link: string,
  scanned: LineShape | undefined,
  documents: Documents,
): Promise<LinkedFile> {
  const copied = scanned === undefined ? DOCUMENT : (ofLayers(file) ?? ofLines(scanned))
  if (copied === undefined) {
    symlinkSync(file.path, link)
    return { ...file, ...UNKNOWN, link, ...(scanned && { lines: scanned }) }
  }
  const lines = newShape()
  await pipeline(jsonLines(file, openInput(file), lines, documents), createWriteStream(link))
  return { ...copyOf(file, link, copied), lines: { ...lines, isCut: scanned?.isCut === true } }
}

const DOCUMENT = 'is a JSON document, which a build cuts into lines; write each record as a line'

function ofLayers({ layers }: InputFile): string | undefined {
  if (layers === undefined) return undefined
  return layers.gzips > 0 ? 'is compressed more than once; unpack it once' : 'is UTF-16; write it in UTF-8'
}

function ofLines({ hasMark, hasRepeatedKeys, hasHalves, tooLong }: LineShape): string | undefined {
  if (hasRepeatedKeys) return 'has repeated keys; keep the last of each'
  if (hasHalves) return 'has half of a character, such as \\ud83d alone; write \\ufffd in its place'
  if (tooLong > 0) return `has a line longer than ${LONGEST_RECORD}; remove it`
  return hasMark ? 'begins with a byte order mark; remove it' : undefined
}

async function linkCsv(file: InputFile, link: string, wanted: readonly string[], shape: CsvShape): Promise<LinkedFile> {
  const { records: csvRecords, hasEscapedQuotes, isUtf8 } = shape
  const looked = { csvReading: readingOf(shape), readsAllColumns: hasEscapedQuotes || !isUtf8, csvRecords }
  const hasLongRecord = shape.longestRecordBytes > LONGEST_RECORD_BYTES
  if (shape.lineEnds.size > 1 || shape.isHeaderBroken || hasLongRecord) {
    const delimiter = await delimiterOf(file, wanted)
    await pipeline(splitCsv(openInput(file), delimiter), withLineFeeds, createWriteStream(link))
    const copied = hasLongRecord
      ? `has a record longer than ${LONGEST_RECORD}; remove it`
      : shape.isHeaderBroken
        ? 'has a line end in its header; write each name on one line'
        : 'has line ends of more than one kind; give all of them a line feed alone'
    return { ...copyOf(file, link, copied), ...looked }
  }
  const copied = ofLayers(file)
  if (copied !== undefined) {
    await pipeline(openInput(file), createWriteStream(link))
    return { ...copyOf(file, link, copied), ...looked }
  }
  symlinkSync(file.path, link)
  return { ...file, link, ...looked }
}

function readingOf({ longestRecordBytes, hasQuotedLineEnds }: CsvShape): CsvReading {
  if (longestRecordBytes > LARGE_RECORD_BYTES) return 'large'
  return hasQuotedLineEnds ? 'ordered' : 'parallel'
}

async function* withLineFeeds(batches: AsyncIterable<Buffer[]>): AsyncIterable<Buffer> {
  const lineFeed = Buffer.from('\n')
  let isHeader = true
  for await (const records of batches) {
    const [header] = records
    if (isHeader && header !== undefined) {
      records[0] = Buffer.from(header.toString('latin1').replaceAll(/\r\n?/g, '\n'), 'latin1')
      isHeader = false
    }
    yield Buffer.concat(records.flatMap((record) => [record, lineFeed]))
  }
}
