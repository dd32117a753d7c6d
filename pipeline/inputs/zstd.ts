import { type FileHandle, open } from 'node:fs/promises'

const FRAME_MAGIC = 0xfd2fb528
/** Sixteen numbers from here on mark skippable frames. */
const SKIPPABLE_MAGIC = 0x184d2a50
const CONTENT_SIZE_BYTES = [0, 2, 4, 8]
const DICTIONARY_ID_BYTES = [0, 1, 2, 4]
const RLE_BLOCK = 1

/**
 * Walks the frames of a zstd file by their headers (RFC 8878 § 3.1) and throws when the last one is cut. It reads a few
 * bytes per block: Node decodes only the first frame of a file, and DuckDB takes what lies before a cut for the whole.
 */
export async function assertWholeFrames(path: string): Promise<void> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size === 0) throw new Error('the file is empty')
    let offset = 0
    while (offset < size) offset = await frameEnd(file, offset)
    if (offset > size) throw new Error('unexpected end of file')
  } finally {
    await file.close()
  }
}

async function frameEnd(file: FileHandle, start: number): Promise<number> {
  const magic = (await read(file, start, 4)).readUInt32LE()
  if (magic >= SKIPPABLE_MAGIC && magic < SKIPPABLE_MAGIC + 16) {
    return start + 8 + (await read(file, start + 4, 4)).readUInt32LE()
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
  return blocksEnd + checksum
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
