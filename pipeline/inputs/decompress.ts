import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { BuildError } from '../errors.ts'
import type { Compression, InputFile } from './find.ts'
import { through } from './through.ts'
import { decompressZstd, zstdFrames } from './zstd.ts'

/** The bytes of a raw file after decompression. Errors name the file. */
export async function* openInput(file: InputFile): AsyncIterable<Buffer> {
  try {
    yield* CONTENT[file.compression](file.path)
  } catch (error) {
    throw new BuildError(`${file.name} cannot be read whole: ${error instanceof Error ? error.message : error}`)
  }
}

/** Read in larger pieces than Node's own, a file takes half the time. */
const BYTES_AT_ONCE = 1_048_576

const CONTENT: Record<Compression, (path: string) => AsyncIterable<Buffer>> = {
  uncompressed: (path) => createReadStream(path, { highWaterMark: BYTES_AT_ONCE }),
  gzip: (path) => through(createReadStream(path), createGunzip()),
  zstd: decompressZstd,
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
 * Reads a compressed file to its end and throws `BuildError`, naming it, when it is cut or damaged (DESIGN.md §6.9).
 * DuckDB takes the rows before the cut for the whole file, without a word, so this has to come before it. CSV is read to
 * its end when it is linked.
 */
export async function assertWhole(file: InputFile, signal: AbortSignal): Promise<void> {
  if (file.format === 'csv') return
  if (file.compression === 'gzip') for await (const _ of openInput(file)) signal.throwIfAborted()
  if (file.compression === 'zstd') await assertWholeFrames(file)
}

/** DuckDB checks the content of zstd itself: that no frame is cut is all that is left to see. */
async function assertWholeFrames(file: InputFile): Promise<void> {
  try {
    await Array.fromAsync(zstdFrames(file.path), () => undefined)
  } catch (error) {
    throw new BuildError(`${file.name} cannot be read whole: ${error instanceof Error ? error.message : error}`)
  }
}
