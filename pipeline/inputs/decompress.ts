import { createReadStream } from 'node:fs'
import type { Readable, Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { BuildError } from '../errors.ts'
import type { Compression, InputFile } from './find.ts'
import { assertWholeFrames } from './zstd.ts'

const DECOMPRESSORS: Record<Compression, (() => Transform) | undefined> = {
  uncompressed: undefined,
  gzip: createGunzip,
  zstd: createZstdDecompress,
}

/** The bytes of a raw file after decompression. */
export function openInput(file: InputFile): Readable {
  const raw = createReadStream(file.path)
  const decompressor = DECOMPRESSORS[file.compression]?.()
  if (decompressor === undefined) return raw
  raw.once('error', (error) => decompressor.destroy(error))
  return raw.pipe(decompressor)
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
 * DuckDB takes the rows before the cut for the whole file, without a word, so this has to come before it.
 */
export async function assertWhole(file: InputFile, signal: AbortSignal): Promise<void> {
  try {
    if (file.compression === 'zstd') await assertWholeFrames(file.path)
    if (file.compression === 'gzip') await drain(openInput(file), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new BuildError(`${file.name} cannot be read whole: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function drain(bytes: Readable, signal: AbortSignal): Promise<void> {
  for await (const _ of bytes) signal.throwIfAborted()
}
