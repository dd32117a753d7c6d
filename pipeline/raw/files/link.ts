import { createWriteStream } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BuildError } from '../../base/errors.ts'
import { sideBySide } from '../../base/side-by-side.ts'
import { delimiterOf } from './columns.ts'
import type { Contents } from './content.ts'
import type { CsvShape } from './csv-shape.ts'
import { openInput, readHead } from './decompress.ts'
import type { Compression, InputFile } from './find.ts'
import { JsonLines } from './json-lines.ts'
import { splitCsv } from './split.ts'

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
  /** Bytes of the longest line of JSON, where a file of documents was cut into lines. */
  longestLine?: number
}

/** Enough to see a byte order mark, and the bracket of a list behind white space. */
const HEAD_BYTES = 64
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const PARQUET_MAGIC = Buffer.from('PAR1')

/**
 * Links each file into `folder` under a plain name, so that characters in its own name never act as a pattern. Files
 * that DuckDB cannot read in place are rewritten: compressed Parquet, JSON documents, NDJSON with a byte order mark, CSV
 * with mixed line ends.
 */
export async function linkFiles(
  files: readonly InputFile[],
  folder: string,
  { wanted, contents }: { wanted: readonly string[]; contents: Contents },
): Promise<LinkedFile[]> {
  return sideBySide(files, async (file, position) => {
    const link = join(folder, `${position}.${file.format}`)
    const shape = file.format === 'csv' ? (await contents.of(file)).shape : undefined
    return shape === undefined ? linkFile(file, link) : linkCsv(file, link, wanted, shape)
  })
}

export function asRead(file: LinkedFile): InputFile {
  return { ...file, path: file.link }
}

/** Links one file without scanning CSV. */
export async function linkFile(file: InputFile, link: string): Promise<LinkedFile> {
  const unknown = { csvReading: 'ordered', readsAllColumns: true, csvRecords: undefined } as const
  const linked = { ...file, link, ...unknown }
  const head = file.format === 'ndjson' ? await readHead(file, HEAD_BYTES) : Buffer.alloc(0)
  const skip = bytesToSkip(head)
  if (hasDocuments(file, head)) {
    const lines = new JsonLines(file.name)
    const cut = (chunks: AsyncIterable<Buffer>) => lines.of(chunks)
    await pipeline(openInput(file), withoutFirst(skip), cut, createWriteStream(link))
    return { ...linked, compression: 'uncompressed', longestLine: lines.longest }
  }
  if (skip === 0 && (file.format !== 'parquet' || file.compression === 'uncompressed')) {
    await symlink(file.path, link)
    return linked
  }
  if (file.format === 'parquet') await verifyParquet(file)
  await pipeline(openInput(file), withoutFirst(skip), createWriteStream(link))
  return { ...linked, compression: 'uncompressed' }
}

/** Whether an NDJSON file holds JSON documents: it says so, or begins with a list. */
function hasDocuments({ format, name }: InputFile, head: Buffer): boolean {
  if (format !== 'ndjson') return false
  const text = head.subarray(bytesToSkip(head)).toString('utf8')
  return /\.json(\.\w+)?$/i.test(name) || text.trimStart().startsWith('[')
}

async function linkCsv(file: InputFile, link: string, wanted: readonly string[], shape: CsvShape): Promise<LinkedFile> {
  const { records: csvRecords, hasEscapedQuotes, isUtf8 } = shape
  const looked = { csvReading: readingOf(shape), readsAllColumns: hasEscapedQuotes || !isUtf8, csvRecords }
  if (shape.lineEnds.size <= 1) return { ...(await linkFile(file, link)), ...looked }
  const delimiter = await delimiterOf(file, wanted)
  await pipeline(splitCsv(openInput(file), delimiter), withLineFeeds, createWriteStream(link))
  return { ...file, link, ...looked, compression: 'uncompressed' }
}

function readingOf({ longestRecordBytes, hasQuotedLineEnds }: CsvShape): CsvReading {
  if (longestRecordBytes > LARGE_RECORD_BYTES) return 'large'
  return hasQuotedLineEnds ? 'ordered' : 'parallel'
}

async function* withLineFeeds(batches: AsyncIterable<Buffer[]>): AsyncIterable<Buffer> {
  const lineFeed = Buffer.from('\n')
  for await (const records of batches) yield Buffer.concat(records.flatMap((record) => [record, lineFeed]))
}

/** Check before decompressing: a small file may decompress to more than the disk holds. */
async function verifyParquet(file: InputFile): Promise<void> {
  const head = await readHead(file, PARQUET_MAGIC.length)
  if (!head.equals(PARQUET_MAGIC)) throw new BuildError(`${file.name} cannot be read whole: it is not Parquet`)
}

function bytesToSkip(head: Buffer): number {
  return head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
}

function withoutFirst(count: number) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    let left = count
    for await (const chunk of chunks) {
      yield chunk.subarray(left)
      left = Math.max(0, left - chunk.length)
    }
  }
}
