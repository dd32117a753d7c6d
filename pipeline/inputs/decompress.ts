import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { BuildError, reasonOf } from '../errors.ts'
import type { Compression, InputFile } from './find.ts'
import { through } from './through.ts'
import { decompressZstd } from './zstd.ts'

/** Is told how many more bytes were read of a file as it lies there. */
export type OnRead = (bytes: number) => void

/** The bytes of a raw file after decompression. Errors name the file. */
export async function* openInput(file: InputFile, onRead: OnRead = () => {}): AsyncIterable<Buffer> {
  try {
    yield* CONTENT[file.compression](file, onRead)
  } catch (error) {
    throw new BuildError(`${file.name} cannot be read whole: ${reasonOf(error)}`)
  }
}

/** Read in larger pieces than Node's own, a file takes half the time. */
const BYTES_AT_ONCE = 1_048_576
const LEAST_BYTES_AT_ONCE = 16_384

/** And so it does when it is decompressed into larger pieces; beyond this size nothing is gained. */
const DECOMPRESSED_BYTES_AT_ONCE = 262_144

/** A buffer much larger than the file would be most of the work for thousands of small files. */
function decompressedPiece(bytes: number): { chunkSize: number } {
  return { chunkSize: Math.min(DECOMPRESSED_BYTES_AT_ONCE, Math.max(bytes, LEAST_BYTES_AT_ONCE)) }
}

const CONTENT: Record<Compression, (file: InputFile, onRead: OnRead) => AsyncIterable<Buffer>> = {
  uncompressed: ({ path, bytes }, onRead) => {
    const highWaterMark = Math.min(BYTES_AT_ONCE, Math.max(bytes, LEAST_BYTES_AT_ONCE))
    return counting(createReadStream(path, { highWaterMark }), onRead)
  },
  gzip: decompressGzip,
  zstd: ({ path, bytes }, onRead) => decompressZstd(path, onRead, decompressedPiece(bytes)),
}

/** Node passes over zeros behind the last member without a word, and DuckDB fails on them without naming the file. */
async function* decompressGzip({ path, bytes }: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  const gunzip = createGunzip(decompressedPiece(bytes))
  let read = 0
  const onBytes = (more: number) => {
    read += more
    onRead(more)
  }
  yield* through(createReadStream(path), gunzip, onBytes)
  if (gunzip.bytesWritten < read) throw new Error('there is something behind its compressed data')
}

/** The bytes of a file that is not compressed, at a third of the cost: a chunk is overwritten when the next is asked for. */
async function* openInOneBuffer({ path, name }: InputFile, onRead: OnRead): AsyncIterable<Buffer> {
  try {
    await using file = await open(path)
    const buffer = Buffer.allocUnsafeSlow(BYTES_AT_ONCE)
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length)
      if (bytesRead === 0) return
      onRead(bytesRead)
      yield buffer.subarray(0, bytesRead)
    }
  } catch (error) {
    throw new BuildError(`${name} cannot be read whole: ${reasonOf(error)}`)
  }
}

async function* counting(chunks: AsyncIterable<Buffer>, onRead: OnRead): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    onRead(chunk.length)
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
  const chunks = file.compression === 'uncompressed' ? openInOneBuffer(file, onRead) : openInput(file, onRead)
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    hash.update(chunk)
  }
  return hash.digest('hex')
}
