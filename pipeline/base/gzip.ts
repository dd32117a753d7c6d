import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * A text is compressed in blocks of so many bytes. Each follows from itself and from the end of the one before it, so the
 * blocks of a text that grew at its end need not be compressed again.
 */
const BLOCK_BYTES = 131_072

/** How far deflate looks back (RFC 1951 § 2). */
const WINDOW_BYTES = 32_768

/** What ends each block but the last: an empty stored block (RFC 1951 § 3.2.4). */
const FLUSHED = Buffer.from([0, 0, 0xff, 0xff])

const HEAD_BYTES = 10
const BEST = constants.Z_BEST_COMPRESSION

/** How to compress. */
export interface GzipOptions {
  level?: number
  /** Another gzip file of this function and level. Its blocks are taken over as far as the text begins like its own. */
  known?: Buffer | undefined
}

/** Gzip of one member that depends on text and level alone: no time, name or operating system in the header. */
export async function gzip(text: Buffer, { level = BEST, known }: GzipOptions = {}): Promise<Buffer> {
  const kept = known === undefined ? [] : knownBlocks(text, known)
  const count = Math.max(1, Math.ceil(text.length / BLOCK_BYTES))
  const compress = (_: unknown, position: number) => {
    const isLast = kept.length + position === count - 1
    return compressBlock(blockOf(text, kept.length + position), { level, isLast })
  }
  const added = await Promise.all(Array.from({ length: count - kept.length }, compress))
  return Buffer.concat([headOf(level), ...kept, ...added, tailOf(text)])
}

/** Gzip of a text made at once, in one block: what it costs to ask another thread is half of what this takes. */
export function gzipSmall(text: Buffer, level: number): Buffer {
  return Buffer.concat([headOf(level), deflateRawSync(text, { level }), tailOf(text)])
}

interface Block {
  text: Buffer
  /** What stands before it, as far as deflate looks back. */
  dictionary: Buffer
}

function blockOf(text: Buffer, position: number): Block {
  const start = position * BLOCK_BYTES
  return {
    text: text.subarray(start, start + BLOCK_BYTES),
    dictionary: text.subarray(Math.max(0, start - WINDOW_BYTES), start),
  }
}

function compressBlock({ text, dictionary }: Block, { level, isLast }: { level: number; isLast: boolean }) {
  const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH
  return promisify(deflateRaw)(text, { level, finishFlush, ...(dictionary.length > 0 && { dictionary }) })
}

/** The compressed blocks at the beginning of a gzip file that hold, in whole blocks, what the text begins with. */
function knownBlocks(text: Buffer, known: Buffer): Buffer[] {
  const blocks: Buffer[] = []
  let start = HEAD_BYTES
  while ((blocks.length + 1) * BLOCK_BYTES < text.length) {
    const mark = known.indexOf(FLUSHED, start)
    if (mark < 0) break
    const compressed = known.subarray(start, mark + FLUSHED.length)
    if (!holds(compressed, blockOf(text, blocks.length))) break
    blocks.push(compressed)
    start = mark + FLUSHED.length
  }
  return blocks
}

function holds(compressed: Buffer, { text, dictionary }: Block): boolean {
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, dictionary, chunkSize: BLOCK_BYTES }
    return inflateRawSync(compressed, options).equals(text)
  } catch {
    // The mark was no end of a block, or the file was written by something else.
    return false
  }
}

/** Magic number, deflate, no flags, no time, which level, unknown system (RFC 1952 § 2.3.1). */
function headOf(level: number): Buffer {
  return Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level === BEST ? 2 : 0, 255])
}

function tailOf(text: Buffer): Buffer {
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc32(text), 0)
  tail.writeUInt32LE(text.length % 2 ** 32, 4)
  return tail
}
