import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { BuildError, reasonOf } from '../../base/errors.ts'
import type { Compression, InputFile } from './find.ts'
import { through } from './through.ts'
import { decompressZstd } from './zstd.ts'

/** Called with the number of further bytes read from the stored file. */
export type OnRead = (bytes: number) => void

/** The decompressed bytes of a raw file. Errors name the file. */
export function openInput(file: InputFile, onRead: OnRead = () => {}): AsyncIterable<Buffer> {
  return naming(file, CONTENT[file.compression](file, onRead))
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

/** Twice as fast as Node's default size; larger sizes gain nothing. */
const DECOMPRESSED_BYTES_AT_ONCE = 262_144

/** Small files get small buffers: allocating large ones would dominate the reading of thousands of files. */
function sizeOfPiece(most: number, { bytes }: InputFile): number {
  return Math.min(most, Math.max(bytes, LEAST_BYTES_AT_ONCE))
}

const CONTENT: Record<Compression, (file: InputFile, onRead: OnRead) => AsyncIterable<Buffer>> = {
  uncompressed: (file, onRead) =>
    passing(createReadStream(file.path, { highWaterMark: sizeOfPiece(BYTES_AT_ONCE, file) }), ({ length }) =>
      onRead(length),
    ),
  gzip: decompressGzip,
  zstd: (file, onRead) =>
    decompressZstd(file.path, onRead, { chunkSize: sizeOfPiece(DECOMPRESSED_BYTES_AT_ONCE, file) }),
}

/** Rejects zeros behind the last gzip member: Node skips them, and DuckDB fails on them without naming the file. */
async function* decompressGzip(file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const gunzip = createGunzip({ chunkSize: sizeOfPiece(DECOMPRESSED_BYTES_AT_ONCE, file) })
  let read = 0
  const onBytes = (more: number) => {
    read += more
    onRead(more)
  }
  yield* through(createReadStream(file.path), gunzip, onBytes)
  if (gunzip.bytesWritten < read) throw new Error('there is data after its compressed data')
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

/**
 * SHA-256 (hex) of a raw file's decompressed bytes. Throws `BuildError` that names the file if it is cut or damaged
 * (DESIGN.md §6.9). DuckDB silently reads a cut file up to the cut, so count nothing of a file before this is done.
 */
export async function hashContent(file: InputFile, signal: AbortSignal, onRead: OnRead): Promise<string> {
  const hash = createHash('sha256')
  const isPlain = file.compression === 'uncompressed'
  const chunks = isPlain ? naming(file, readInOneBuffer(file, onRead)) : openInput(file, onRead)
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    hash.update(chunk)
  }
  return hash.digest('hex')
}
