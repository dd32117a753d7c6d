import { createReadStream, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip, type Gunzip, gunzipSync } from 'node:zlib'
import { BuildError, reasonOf } from '../../base/errors.ts'
import type { Compression, InputFile } from './find.ts'
import { through } from './through.ts'
import { decompressZstd } from './zstd.ts'

/** Called with the number of further bytes read from the stored file. */
export type OnRead = (bytes: number) => void

/** The decompressed bytes of a raw file. Errors name the file. */
export function openInput(file: InputFile, onRead: OnRead = () => {}): AsyncIterable<Buffer> {
  return naming(file, withoutLayers(file, CONTENT[file.compression](file, onRead)))
}

function withoutLayers(file: InputFile, stored: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { gzips, encoding } = file.layers ?? { gzips: 0, encoding: 'utf-8' }
  let chunks = stored
  for (let layer = 0; layer < gzips; layer++) chunks = decompressGzip(Readable.from(chunks), file, () => {})
  return encoding === 'utf-8' ? chunks : decoded(chunks, encoding)
}

/** UTF-16 as UTF-8, without its byte order mark. */
async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  const decoder = new TextDecoder(encoding)
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    yield Buffer.from(decoder.decode(chunk, { stream: true }))
  }
  if (bytes % 2 === 1) throw new Error('it ends within a character')
  yield Buffer.from(decoder.decode())
}

async function* naming({ name }: InputFile, chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* chunks
  } catch (error) {
    throw new BuildError(`${name} cannot be read whole: ${reasonOf(error)}`)
  }
}

/** Twice as fast as Node's default size. */
const BYTES_AT_ONCE = 1_048_576
const LEAST_BYTES_AT_ONCE = 16_384

/** A third faster than Node's default size. */
const COMPRESSED_BYTES_AT_ONCE = 262_144

/** Twice as fast as Node's default size; larger sizes gain nothing. */
const DECOMPRESSED_BYTES_AT_ONCE = 262_144

/** Small files get small buffers: allocating large ones would dominate the reading of thousands of files. */
function sizeOfPiece(most: number, { bytes }: InputFile): number {
  return Math.min(most, Math.max(bytes, LEAST_BYTES_AT_ONCE))
}

/** A file up to this size is read and decompressed at once: a stream costs more than the bytes of a small file. */
const SMALL_BYTES = 65_536

function isSmall({ bytes }: InputFile): boolean {
  return bytes <= SMALL_BYTES
}

const CONTENT: Record<Compression, (file: InputFile, onRead: OnRead) => AsyncIterable<Buffer>> = {
  uncompressed: (file, onRead) =>
    isSmall(file)
      ? readAtOnce(file, onRead)
      : passing(createReadStream(file.path, { highWaterMark: BYTES_AT_ONCE }), ({ length }) => onRead(length)),
  gzip: (file, onRead) =>
    isSmall(file)
      ? gunzipAtOnce(file, onRead)
      : decompressGzip(createReadStream(file.path, { highWaterMark: COMPRESSED_BYTES_AT_ONCE }), file, onRead),
  zstd: (file, onRead) =>
    decompressZstd(file.path, onRead, { chunkSize: sizeOfPiece(DECOMPRESSED_BYTES_AT_ONCE, file) }),
}

async function* readAtOnce(file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const stored = readFileSync(file.path)
  onRead(stored.length)
  if (stored.length > 0) yield stored
}

/** The same as `decompressGzip`, in pieces of the same size at most. */
async function* gunzipAtOnce(file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const stored = readFileSync(file.path)
  onRead(stored.length)
  const { buffer, engine } = gunzipSync(stored, { info: true }) as unknown as { buffer: Buffer; engine: Gunzip }
  if (engine.bytesWritten < stored.length) throw dataAfter()
  for (let start = 0; start < buffer.length; start += DECOMPRESSED_BYTES_AT_ONCE) {
    yield buffer.subarray(start, start + DECOMPRESSED_BYTES_AT_ONCE)
  }
}

/** Rejects zeros behind the last gzip member: Node skips them, and DuckDB fails on them without naming the file. */
async function* decompressGzip(source: Readable, file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const gunzip = createGunzip({ chunkSize: sizeOfPiece(DECOMPRESSED_BYTES_AT_ONCE, file) })
  let read = 0
  const onBytes = (more: number) => {
    read += more
    onRead(more)
  }
  yield* through(source, gunzip, onBytes)
  if (gunzip.bytesWritten < read) throw dataAfter()
}

function dataAfter(): Error {
  return new Error('there is data after its compressed data')
}

/** The bytes of an uncompressed file, three times faster. Each chunk is overwritten by the next. */
async function* readInOneBuffer(file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  await using handle = await open(file.path)
  const buffer = Buffer.allocUnsafeSlow(sizeOfPiece(BYTES_AT_ONCE, file))
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    if (bytesRead === 0) return
    onRead(bytesRead)
    yield buffer.subarray(0, bytesRead)
  }
}

export async function* passing(chunks: AsyncIterable<Buffer>, onBytes: (bytes: Buffer) => void): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk)
    yield chunk
  }
}

/** The first `limit` decompressed bytes of a raw file, or all if it is shorter. */
export async function readHead(file: InputFile, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of openInput(file)) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= limit) break
  }
  return Buffer.concat(chunks).subarray(0, limit)
}

/** The same as `openInput`, faster for a plain file. Each chunk may be overwritten by the next. */
export function openOnce(file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const isPlain = file.compression === 'uncompressed' && file.layers === undefined && !isSmall(file)
  return isPlain ? naming(file, readInOneBuffer(file, onRead)) : openInput(file, onRead)
}
