import { inflateSync } from 'node:zlib'

const HEADER_BYTES = 44
const ENTRY_BYTES = 20

interface FontTable {
  tag: string
  checksum: number
  content: Buffer
}

/** A TrueType font out of its WOFF file (W3C, WOFF 1.0 § 3–5): the same tables, not compressed. */
export function ttfOf(woff: Buffer): Buffer {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('the font is no WOFF file')
  const tables = Array.from({ length: woff.readUInt16BE(12) }, (_, position) => tableOf(woff, position))
  const head = Buffer.alloc(12 + 16 * tables.length)
  writeHead(head, woff.subarray(4, 8), tables.length)
  const parts: Buffer[] = [head]
  let offset = head.length
  for (const [position, { tag, checksum, content }] of tables.entries()) {
    const entry = 12 + 16 * position
    head.write(tag, entry, 'latin1')
    head.writeUInt32BE(checksum, entry + 4)
    head.writeUInt32BE(offset, entry + 8)
    head.writeUInt32BE(content.length, entry + 12)
    const padding = Buffer.alloc((4 - (content.length % 4)) % 4)
    parts.push(content, padding)
    offset += content.length + padding.length
  }
  return Buffer.concat(parts)
}

function tableOf(woff: Buffer, position: number): FontTable {
  const entry = HEADER_BYTES + ENTRY_BYTES * position
  const [offset, length, plainLength, checksum] = [4, 8, 12, 16].map((at) => woff.readUInt32BE(entry + at))
  if (offset === undefined || length === undefined || plainLength === undefined || checksum === undefined)
    throw new Error('the font is cut')
  const stored = woff.subarray(offset, offset + length)
  // A table that would not shrink is stored as it is.
  const content: Buffer = length < plainLength ? inflateSync(stored) : stored
  return { tag: woff.toString('latin1', entry, entry + 4), checksum, content }
}

/** The kind of font, the number of tables, and what a search among them by halves begins with. */
function writeHead(head: Buffer, flavor: Buffer, count: number): void {
  const depth = Math.floor(Math.log2(count))
  const range = 2 ** depth * 16
  flavor.copy(head, 0)
  head.writeUInt16BE(count, 4)
  head.writeUInt16BE(range, 6)
  head.writeUInt16BE(depth, 8)
  head.writeUInt16BE(count * 16 - range, 10)
}
