import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createZstdDecompress } from 'node:zlib'
import { through } from './through.ts'

const FRAME_MAGIC = 0xfd2fb528
/** Sixteen magic numbers from here on mark skippable frames. */
const SKIPPABLE_MAGIC = 0x184d2a50
const CONTENT_SIZE_BYTES = [0, 2, 4, 8]
const DICTIONARY_ID_BYTES = [0, 1, 2, 4]
const RLE_BLOCK = 1

/** The byte range of a frame. Skippable frames have no content. */
interface Frame {
  start: number
  end: number
  isSkippable: boolean
}

/** The frames of a zstd file, from their headers (RFC 8878 § 3.1). Throws if the last frame is cut. */
export async function* zstdFrames(path: string): AsyncIterable<Frame> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size === 0) throw new Error('the file is empty')
    for (let start = 0; start < size; ) {
      const frame = await readFrame(file, start)
      if (frame.end > size) throw new Error('unexpected end of file')
      yield frame
      start = frame.end
    }
  } finally {
    await file.close()
  }
}

/** Decompresses all frames of a zstd file. Node's decoder stops after the first. */
export async function* decompressZstd(
  path: string,
  onRead: (bytes: number) => void,
  piece: { chunkSize?: number } = {},
): AsyncIterable<Buffer> {
  for await (const { start, end, isSkippable } of zstdFrames(path)) {
    if (isSkippable) onRead(end - start)
    else yield* through(createReadStream(path, { start, end: end - 1 }), createZstdDecompress(piece), onRead)
  }
}

async function readFrame(file: FileHandle, start: number): Promise<Frame> {
  const magic = (await read(file, start, 4)).readUInt32LE()
  if (magic >= SKIPPABLE_MAGIC && magic < SKIPPABLE_MAGIC + 16) {
    const end = start + 8 + (await read(file, start + 4, 4)).readUInt32LE()
    return { start, end, isSkippable: true }
  }
  if (magic !== FRAME_MAGIC) throw new Error('not a zstd frame')
  const descriptor = (await read(file, start + 4, 1)).readUInt8()
  const isSingleSegment = (descriptor & 0b10_0000) !== 0
  const sizeFlag = descriptor >> 6
  const contentSize = sizeFlag === 0 && isSingleSegment ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0)
  const windowDescriptor = isSingleSegment ? 0 : 1
  const dictionaryId = DICTIONARY_ID_BYTES[descriptor & 0b11] ?? 0
  const blocksEnd = await lastBlockEnd(file, start + 5 + windowDescriptor + dictionaryId + contentSize)
  const checksum = (descriptor & 0b100) !== 0 ? 4 : 0
  return { start, end: blocksEnd + checksum, isSkippable: false }
}

async function lastBlockEnd(file: FileHandle, start: number): Promise<number> {
  for (let offset = start; ; ) {
    const header = (await read(file, offset, 3)).readUIntLE(0, 3)
    const type = (header >> 1) & 0b11
    offset += 3 + (type === RLE_BLOCK ? 1 : header >> 3)
    if ((header & 1) === 1) return offset
  }
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw new Error('unexpected end of file')
  return buffer
}
