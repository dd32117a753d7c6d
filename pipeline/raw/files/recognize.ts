// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the first bytes of binary files.
import { BuildError, CliError } from '../../base/errors.ts'
import { SharedTexts } from '../../base/shared-texts.ts'
import { wholeHeader } from './columns.ts'
import { readHead } from './decompress.ts'
import { type Compression, type Format, formatOf as formatOfName, type InputFile, type Layers } from './find.ts'

const HEAD_BYTES = 4096
const MOST_GZIPS = 3

/** Thousands of files have the same header, and some have one of their own. */
const HEADERS = new SharedTexts(100)

/**
 * What a raw file is by its first bytes: the ending of its name decides only where they do not. Throws `BuildError` that
 * names the file for a kind that is not read, such as an archive, `CliError` if neither its name nor its text says what it is.
 */
export async function recognize(file: InputFile): Promise<InputFile> {
  const stored = await readHead({ ...file, compression: 'uncompressed', layers: undefined }, HEAD_BYTES)
  const compression = compressionOf(stored) ?? 'uncompressed'
  // What is cut or damaged is not taken for something else. Reading it says what is wrong.
  if (compression === 'uncompressed' && file.compression !== 'uncompressed' && !isKnown(stored)) return file
  const { head, gzips } =
    compression === 'uncompressed' ? { head: stored, gzips: 0 } : await unpacked(file, compression)
  if (isParquet(head))
    return { ...file, compression, layers: layersOf(gzips, 'utf-8'), format: 'parquet', isDocument: false }
  const encoding = encodingOf(head)
  const text = new TextDecoder(encoding).decode(head, { stream: true })
  const format = formatOf(file, head, text)
  const isDocument = format === 'ndjson' && holdsDocuments(file, text)
  const header = format === 'csv' ? wholeHeader(text) : undefined
  return {
    ...file,
    compression,
    layers: layersOf(gzips, encoding),
    format,
    isDocument,
    // A copy, because the header is a part of the head, which would stay in memory with it.
    ...(header && { header: HEADERS.of(Buffer.from(header).toString()) }),
  }
}

function layersOf(gzips: number, encoding: Layers['encoding']): Layers | undefined {
  return gzips > 0 || encoding !== 'utf-8' ? { gzips, encoding } : undefined
}

/** The head below all layers of gzip. */
async function unpacked(file: InputFile, compression: Compression): Promise<{ head: Buffer; gzips: number }> {
  for (let gzips = 0; gzips <= MOST_GZIPS; gzips++) {
    const head = await readHead({ ...file, compression, layers: { gzips, encoding: 'utf-8' } }, HEAD_BYTES)
    const inner = compressionOf(head)
    if (inner === undefined) return { head, gzips }
    if (inner === 'zstd')
      throw new BuildError(`${file.name} is compressed with zstd within ${compression}: unpack it once`)
  }
  throw new BuildError(`${file.name} is compressed with gzip more than ${MOST_GZIPS + 1} times: unpack it`)
}

/** The magic numbers of zstd are those of a frame, and of skippable frames. */
function compressionOf(head: Buffer): Compression | undefined {
  const bytes = head.toString('latin1', 0, 4)
  if (bytes.startsWith('\x1f\x8b\x08')) return 'gzip'
  return /^(\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)/.test(bytes) ? 'zstd' : undefined
}

function encodingOf(head: Buffer): Layers['encoding'] {
  const mark = head.toString('latin1', 0, 4)
  if (mark.startsWith('\xff\xfe') && mark !== '\xff\xfe\0\0') return 'utf-16le'
  if (mark.startsWith('\xfe\xff')) return 'utf-16be'
  const sample = [...head.subarray(0, 64)]
  // Latin letters: every second byte is 0.
  const hasZeros = (place: number) =>
    sample.length >= 4 && sample.every((byte, at) => (byte === 0) === (at % 2 === place))
  return hasZeros(1) ? 'utf-16le' : hasZeros(0) ? 'utf-16be' : 'utf-8'
}

/** Whether bytes say themselves what they are without compression. */
function isKnown(head: Buffer): boolean {
  return (
    otherKind(head) !== undefined ||
    (head.length > 0 && (isParquet(head) || encodingOf(head) !== 'utf-8' || isText(head)))
  )
}

function isText(head: Buffer): boolean {
  return !/[^\t\n\f\r\x20-\uffff]|\ufffd/.test(new TextDecoder().decode(head, { stream: true }))
}

function isParquet(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'PAR1'
}

const TITLES: Record<Format, string> = { csv: 'CSV', ndjson: 'JSON', parquet: 'Parquet' }
const UNPACK = 'unpack it first'
const REPACK = 'unpack it, or compress it with gzip or zstd'
const SAVE = 'save its sheets as CSV'

/** Kinds of files that are not read: how they begin, what they are, and what to do. */
const OTHER_KINDS: [begins: RegExp, kind: string, advice: string][] = [
  [/^PK\x03\x04.*(\[Content_Types\]\.xml|xl\/)/s, 'an Excel workbook', SAVE],
  [/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, 'an old Excel workbook', SAVE],
  [/^PK(\x03\x04|\x05\x06|\x07\x08)/, 'a ZIP archive', UNPACK],
  [/^.{257}ustar(\0| {2}\0)/s, 'a tar archive', UNPACK],
  [/^(7z\xbc\xaf\x27\x1c|Rar!\x1a\x07)/, 'a 7z or RAR archive', UNPACK],
  [/^BZh[1-9]1AY&SY/, 'compressed with bzip2', REPACK],
  [/^\xfd7zXZ\0/, 'compressed with xz', REPACK],
  [/^\x04\x22\x4d\x18/, 'compressed with lz4', REPACK],
  [/^\xff\x06\0\0sNaPpY/, 'compressed with snappy', REPACK],
  [/^SQLite format 3\0/, 'an SQLite database', 'export its table as CSV'],
  [/^.{8}DUCK.\0/s, 'a DuckDB database', 'export its table as Parquet'],
  [/^(Obj\x01|ARROW1\0)/, 'Avro or Arrow', 'write it as Parquet'],
  [/^%PDF-/, 'a PDF document', 'export the data as CSV'],
  [/^\xff\xfe\0\0|^\0\0\xfe\xff/, 'text in UTF-32', 'write it in UTF-8'],
  [
    /^(\xef\xbb\xbf)?\s*<(\?xml|!doctype|html)/i,
    'XML or HTML',
    'it may be the message of a server that failed; fetch it again',
  ],
]

function otherKind(head: Buffer): (typeof OTHER_KINDS)[number] | undefined {
  const bytes = head.toString('latin1')
  return OTHER_KINDS.find(([begins]) => begins.test(bytes))
}

function formatOf(file: InputFile, head: Buffer, text: string): Format {
  const [, kind, advice] = otherKind(head) ?? []
  if (kind !== undefined) throw new BuildError(`${file.name} is ${kind}, not ${TITLES[file.format]}: ${advice}`)
  if (formatOfName(file.name) === undefined && /^\s*[^\s{[]/.test(text) && !isCsv(text)) {
    throw new CliError(
      `${file.name}: a raw file must be CSV, JSON or Parquet; take it out of "files", or give it the ending of what it is`,
    )
  }
  if (file.format === 'ndjson') return isCsv(text) ? 'csv' : 'ndjson'
  if (/^\s*(\{\s*"|\[\s*\{\s*")/.test(text)) return 'ndjson'
  return file.format === 'parquet' && isCsv(text) ? 'csv' : file.format
}

/** Whether the text begins with a header, and no line is JSON. A first line of NDJSON that is damaged is no header. */
function isCsv(text: string): boolean {
  const [first = ''] = /^(?:"[^"]*"|[^"\r\n])*/.exec(text) ?? []
  return /^"?\w[^{}[\]:,;\t|]*([,;\t|][^{}[\]:,;\t|]*)+$/.test(first) && !/^[ \t]*[{[]/m.test(text)
}

/** JSON is cut into lines if its name says so, or if its first line is only the beginning of a value. */
function holdsDocuments({ name, format }: InputFile, text: string): boolean {
  return format !== 'ndjson' || /\.json(\.\w+)?$/i.test(name) || /^\s*(\[|\{\s*[\r\n]\s*["}])/.test(text)
}
