import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { BuildError, reasonOf } from '../../base/errors.ts'
import type { Compression, InputFile } from './find.ts'
import { through } from './through.ts'
import { decompressZstd } from './zstd.ts'

/** Is told how many more bytes were read of a file as it lies there. */
export type OnRead = (bytes: number) => void

/** The bytes of a raw file after decompression. Errors name the file. */
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

/** Read in larger pieces than Node's own, a file takes half the time. */
const BYTES_AT_ONCE = 1_048_576
const LEAST_BYTES_AT_ONCE = 16_384

/** And so it does when it is decompressed into larger pieces; beyond this size nothing is gained. */
const DECOMPRESSED_BYTES_AT_ONCE = 262_144

/** A buffer much larger than the file would be most of the work for thousands of small files. */
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

/** Node passes over zeros behind the last member without a word, and DuckDB fails on them without naming the file. */
async function* decompressGzip(file: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const gunzip = createGunzip({ chunkSize: sizeOfPiece(DECOMPRESSED_BYTES_AT_ONCE, file) })
  let read = 0
  const onBytes = (more: number) => {
    read += more
    onRead(more)
  }
  yield* through(createReadStream(file.path), gunzip, onBytes)
  if (gunzip.bytesWritten < read) throw new Error('there is something behind its compressed data')
}

/** The bytes of a file that is not compressed, at a third of the cost: a chunk is overwritten when the next is asked for. */
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

/** The same chunks, each shown to `onBytes` before it goes on. */
export async function* passing(chunks: AsyncIterable<Buffer>, onBytes: (bytes: Buffer) => void): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk)
    yield chunk
  }
}

/** The first `limit` bytes of a raw file after decompression, fewer when it is shorter. */
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
 * SHA-256 (hex) of what a raw file holds, whether it is compressed or not. Reads the file to its end and throws
 * `BuildError`, naming it, when it is cut or damaged (DESIGN.md §6.9): of a compressed file DuckDB takes the rows before
 * the cut for the whole, without a word, so nothing that it read may count before this is done.
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
