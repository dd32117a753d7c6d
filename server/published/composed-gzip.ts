import { constants, crc32, deflateRawSync } from 'node:zlib'
import { moveCrc } from './crc.ts'
import type { DateRows } from './date-rows.ts'
import { type Run, runOf, slice } from './run.ts'

/**
 * Each date alone, and again with the previous date as dictionary, flushed to a whole byte. A window is its first date
 * alone, then one run of the others.
 */
export interface GzipPieces {
  first: Run
  next: Run
  /** CRC-32 of all rows before date `i`, including its separator. */
  crcBefore: Uint32Array
  /** CRC-32 of all rows through date `i`. */
  crcAfter: Uint32Array
}

const LEVEL = 9
const FLUSHED = { level: LEVEL, memLevel: 9, finishFlush: constants.Z_SYNC_FLUSH }

/** Compresses every date. Takes hundreds of milliseconds for two years, so keep it off the event loop. */
export function compressDates(rows: DateRows): GzipPieces {
  const dates = rows.offsets.length - 1
  const rowsOf = (date: number, skipped = 0) =>
    rows.bytes.subarray((rows.offsets[date] ?? 0) + skipped, rows.offsets[date + 1])
  const first: Uint8Array[] = []
  const next: Uint8Array[] = []
  const crcBefore = new Uint32Array(dates)
  const crcAfter = new Uint32Array(dates)
  let crc = 0
  for (let date = 0; date < dates; date++) {
    const whole = rowsOf(date)
    const afterSeparator = rowsOf(date, rows.separatorBytes)
    first.push(deflateRawSync(afterSeparator, FLUSHED))
    // The previous date may begin the window, so its separator is not in the dictionary.
    const dictionary = date === 0 ? undefined : rowsOf(date - 1, rows.separatorBytes)
    next.push(dictionary === undefined ? new Uint8Array() : deflateRawSync(whole, { ...FLUSHED, dictionary }))
    crcBefore[date] = crc32(whole.subarray(0, rows.separatorBytes), crc)
    crc = crc32(whole, crc)
    crcAfter[date] = crc
  }
  return { first: runOf(first), next: runOf(next), crcBefore, crcAfter }
}

/** Magic number, deflate, no flags, no time, unknown level and system. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
const STORED_HEAD_BYTES = 5
const TRAILER_BYTES = 8

export function gzipComposer(head: Buffer, rows: DateRows, pieces: GzipPieces) {
  const headPiece = Buffer.concat([
    GZIP_HEAD,
    deflateRawSync(head, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH }),
  ])
  const headCrc = crc32(head)

  /** CRC-32 of head and rows, by removing the rows before the window from the running CRC. */
  function crcOf(from: number, to: number, bytes: number): number {
    if (from === to) return headCrc
    const before = pieces.crcBefore[from] ?? 0
    return (pieces.crcAfter[to - 1] ?? 0) ^ moveCrc((before ^ headCrc) >>> 0, bytes)
  }

  return {
    /** One gzip member of the rows of dates `from` (inclusive) to `to` (exclusive); no rows if they are equal. */
    compose(from: number, to: number, tail: Buffer): Buffer[] {
      const bytes = rowBytes(rows, from, to)
      const crc = (moveCrc(crcOf(from, to, bytes) >>> 0, tail.length) ^ crc32(tail)) >>> 0
      const end = endPiece(tail, crc, head.length + bytes + tail.length)
      if (from === to) return [headPiece, end]
      const first = slice(pieces.first, from, from + 1)
      return to - from === 1 ? [headPiece, first, end] : [headPiece, first, slice(pieces.next, from + 1, to), end]
    },
  }
}

/** Bytes of the rows of a window, without the first separator. */
function rowBytes({ offsets, separatorBytes }: DateRows, from: number, to: number): number {
  return from === to ? 0 : (offsets[to] ?? 0) - (offsets[from] ?? 0) - separatorBytes
}

/** The tail as a last, stored block (RFC 1951 § 3.2.4), then checksum and size (RFC 1952 § 2.3.1). */
function endPiece(tail: Buffer, crc: number, size: number): Buffer {
  const piece = Buffer.allocUnsafe(STORED_HEAD_BYTES + tail.length + TRAILER_BYTES)
  piece[0] = 1
  piece.writeUInt16LE(tail.length, 1)
  piece.writeUInt16LE(~tail.length & 0xffff, 3)
  tail.copy(piece, STORED_HEAD_BYTES)
  piece.writeUInt32LE(crc, STORED_HEAD_BYTES + tail.length)
  piece.writeUInt32LE(size >>> 0, STORED_HEAD_BYTES + tail.length + 4)
  return piece
}
