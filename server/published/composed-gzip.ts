import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { DateRows } from './date-rows.ts'

/** The CRC-32 polynomial of gzip, bits reflected. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

/** Moves a CRC-32 over `bytes` zero bytes. CRC-32 is linear: crc(AB) = moveCrc(crc(A), |B|) ^ crc(B). */
export function moveCrc(crc: number, bytes: number): number {
  return crc === 0 ? 0 : multiply(powerOfX(bytes), crc)
}

/** For each of the four digits of a number of bytes to base 256: x^8 to the power of each digit at its place. */
const POWERS = Array.from({ length: 4 }, () => new Uint32Array(256))
let ofDigitOne = ONE >>> 8
for (const powers of POWERS) {
  powers[0] = ONE
  for (let digit = 1; digit < powers.length; digit++) powers[digit] = multiply(powers[digit - 1] ?? 0, ofDigitOne)
  ofDigitOne = multiply(powers[255] ?? 0, ofDigitOne)
}

/** x^8 to the power of `bytes`: one multiplication a digit, where one a bit would cost more than the rest of a gzip. */
function powerOfX(bytes: number): number {
  let power = ONE
  for (let place = 0, rest = bytes; rest > 0; place++, rest >>>= 8) {
    const digit = rest & 255
    if (digit > 0) power = multiply(POWERS[place]?.[digit] ?? 0, power)
  }
  return power
}

function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let rest = a; rest !== 0; rest <<= 1) {
    // The highest bit is the lowest power of x.
    if (rest < 0 || rest >= ONE) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}

export interface Run {
  bytes: Uint8Array
  /** The start of each piece, then the end of the last. */
  offsets: Uint32Array
}

/** Copies pieces into shared memory, so that a worker hands them over without another copy. */
export function runOf(pieces: readonly Uint8Array[]): Run {
  const offsets = new Uint32Array(pieces.length + 1)
  for (const [index, piece] of pieces.entries()) offsets[index + 1] = (offsets[index] ?? 0) + piece.length
  const bytes = new Uint8Array(new SharedArrayBuffer(offsets.at(-1) ?? 0))
  for (const [index, piece] of pieces.entries()) bytes.set(piece, offsets[index])
  return { bytes, offsets }
}

/** Pieces `from` (inclusive) to `to` (exclusive), less `skipped` bytes at the start; not copied. */
export function slice({ bytes, offsets }: Run, from: number, to: number, skipped = 0): Buffer {
  const begin = (offsets[from] ?? 0) + skipped
  return Buffer.from(bytes.buffer, bytes.byteOffset + begin, (offsets[to] ?? 0) - begin)
}

/** Some pieces of a run, neighbours in one buffer, less `skipped` bytes at the start; not copied. */
export function slices(run: Run, pieces: Uint32Array, skipped = 0): Buffer[] {
  const found: Buffer[] = []
  for (let from = 0, to = 0; from < pieces.length; from = to) {
    const first = pieces[from] ?? 0
    do to++
    while (to < pieces.length && pieces[to] === first + to - from)
    found.push(slice(run, first, first + to - from, from === 0 ? skipped : 0))
  }
  return found
}

/**
 * Each date alone, and again with the previous date as dictionary, flushed to a whole byte. A window is its first date
 * alone, then one run of the others.
 */
export interface GzipPieces {
  first: Run
  next: Run
  /** CRC-32 of each piece of rows. */
  crcs: Uint32Array
}

/** A piece of rows, and the one of the previous date in some release. */
export type Link = readonly [previous: number, piece: number]

/** Which pieces are the dates of a release: of rows, and of `next`, whose first is not used. */
export interface Picked {
  pieces: Uint32Array
  links: Uint32Array
}

const LEVEL = 9
const FLUSHED = { level: LEVEL, memLevel: 9, finishFlush: constants.Z_SYNC_FLUSH }

/** Compresses every date. Takes hundreds of milliseconds for two years, so keep it off the event loop. */
export function compressDates(rows: DateRows, links: Iterable<Link>): GzipPieces {
  const first: Uint8Array[] = []
  const crcs = new Uint32Array(rows.offsets.length - 1)
  for (let piece = 0; piece < crcs.length; piece++) {
    first.push(deflateRawSync(bytesOf(rows, piece, rows.separatorBytes), FLUSHED))
    crcs[piece] = crc32(bytesOf(rows, piece))
  }
  const next: Uint8Array[] = []
  for (const [previous, piece] of links) {
    // The previous date may begin the window, so its separator is not in the dictionary.
    const dictionary = bytesOf(rows, previous, rows.separatorBytes)
    next.push(deflateRawSync(bytesOf(rows, piece), { ...FLUSHED, dictionary }))
  }
  return { first: runOf(first), next: runOf(next), crcs }
}

function bytesOf({ bytes, offsets }: DateRows, piece: number, skipped = 0): Uint8Array {
  return bytes.subarray((offsets[piece] ?? 0) + skipped, offsets[piece + 1])
}

/** Magic number, deflate, no flags, no time, unknown level and system. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
const STORED_HEAD_BYTES = 5
const TRAILER_BYTES = 8

export function gzipComposer(head: Buffer, rows: DateRows, pieces: GzipPieces, picked: Picked) {
  const headPiece = Buffer.concat([
    GZIP_HEAD,
    deflateRawSync(head, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH }),
  ])
  const headCrc = crc32(head)
  const sums = runningSums(rows, pieces.crcs, picked.pieces)

  /** CRC-32 of head and rows, by removing the rows before the window from the running CRC. */
  function crcOf(from: number, to: number, bytes: number): number {
    if (from === to) return headCrc
    const before = sums.crcBefore[from] ?? 0
    return (sums.crcAfter[to - 1] ?? 0) ^ moveCrc((before ^ headCrc) >>> 0, bytes)
  }

  /** Bytes of the rows of a window, without the first separator. */
  function rowBytes(from: number, to: number): number {
    return from === to ? 0 : (sums.bytesBefore[to] ?? 0) - (sums.bytesBefore[from] ?? 0) - rows.separatorBytes
  }

  return {
    /** One gzip member of the rows of dates `from` (inclusive) to `to` (exclusive); no rows if they are equal. */
    compose(from: number, to: number, tail: Buffer): Buffer[] {
      const bytes = rowBytes(from, to)
      const crc = (moveCrc(crcOf(from, to, bytes) >>> 0, tail.length) ^ crc32(tail)) >>> 0
      const end = endPiece(tail, crc, head.length + bytes + tail.length)
      if (from === to) return [headPiece, end]
      const piece = picked.pieces[from] ?? 0
      const first = slice(pieces.first, piece, piece + 1)
      return [headPiece, first, ...slices(pieces.next, picked.links.subarray(from + 1, to)), end]
    },
  }
}

/** Of the dates of a release, so that those of any window are a difference of two. */
function runningSums(rows: DateRows, crcs: Uint32Array, pieces: Uint32Array) {
  const bytesBefore = new Uint32Array(pieces.length + 1)
  /** CRC-32 of all rows before date `i`, including its separator. */
  const crcBefore = new Uint32Array(pieces.length)
  /** CRC-32 of all rows through date `i`. */
  const crcAfter = new Uint32Array(pieces.length)
  let crc = 0
  for (const [date, piece] of pieces.entries()) {
    const bytes = bytesOf(rows, piece)
    crcBefore[date] = crc32(bytes.subarray(0, rows.separatorBytes), crc)
    crc = (moveCrc(crc, bytes.length) ^ (crcs[piece] ?? 0)) >>> 0
    crcAfter[date] = crc
    bytesBefore[date + 1] = (bytesBefore[date] ?? 0) + bytes.length
  }
  return { bytesBefore, crcBefore, crcAfter }
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
