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
import { splitCsv } from './split.ts'

/**
 * How DuckDB has to read a CSV file. On several threads it guesses where records begin, which goes wrong, without a word,
 * behind a line end within quotes: such a file is read in order. Records beyond 2 MB need larger pieces of the file.
 */
export type CsvReading = 'parallel' | 'ordered' | 'large'

/** Records up to this size DuckDB reads unless it is told otherwise. */
const LARGE_RECORD_BYTES = 2_000_000

/** A file that DuckDB is to read, under a name made by this project: no name of a user's file gets near SQL. */
export interface LinkedFile extends InputFile {
  link: string
  /** That of the link. */
  compression: Compression
  csvReading: CsvReading
  /**
   * Whether DuckDB has to read every column of a CSV file, needed or not. Of columns that it leaves out it takes a field too
   * many for none when there are quotes within its quotes, and it breaks down on a byte that is no UTF-8 elsewhere. True
   * where nobody looked.
   */
  readsAllColumns: boolean
  /** How many records a CSV file has behind its header, malformed ones among them, where it was read to its end. */
  csvRecords: number | undefined
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const PARQUET_MAGIC = Buffer.from('PAR1')

/**
 * Gives each file a plain name in `folder` by a symbolic link, so that spaces, quotes, braces and wildcards in its own
 * name are never read as a pattern. What DuckDB cannot read in place is written there as it can: compressed Parquet
 * unpacked, NDJSON without its byte order mark, CSV of mixed line ends with line feeds alone: `contents` say what a CSV
 * file is like. `wanted` are names of columns that CSV files are likely to have.
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

/** The file as DuckDB reads it: in place, or what was written in its stead. */
export function asRead(file: LinkedFile): InputFile {
  return { ...file, path: file.link }
}

/** Does so for one file, without a look at how CSV is best read. */
export async function linkFile(file: InputFile, link: string): Promise<LinkedFile> {
  const unknown = { csvReading: 'ordered', readsAllColumns: true, csvRecords: undefined } as const
  const linked = { ...file, link, ...unknown }
  const skip = await bytesToSkip(file)
  if (skip === 0 && (file.format !== 'parquet' || file.compression === 'uncompressed')) {
    await symlink(file.path, link)
    return linked
  }
  if (file.format === 'parquet') await assertParquet(file)
  await pipeline(openInput(file), withoutFirst(skip), createWriteStream(link))
  return { ...linked, compression: 'uncompressed' }
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

/** Before it is unpacked: what is small may hold more than the disk. */
async function assertParquet(file: InputFile): Promise<void> {
  const head = await readHead(file, PARQUET_MAGIC.length)
  if (!head.equals(PARQUET_MAGIC)) throw new BuildError(`${file.name} cannot be read whole: it is no Parquet`)
}

async function bytesToSkip(file: InputFile): Promise<number> {
  if (file.format !== 'ndjson') return 0
  const head = await readHead(file, BYTE_ORDER_MARK.length)
  return head.equals(BYTE_ORDER_MARK) ? head.length : 0
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
