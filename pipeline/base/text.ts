import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip as gzipOnThread } from 'node:zlib'
import { canonicalCsvHeader, canonicalCsvRow } from '../contract/canonical-csv.ts'
import type { ContentHash } from '../contract/manifest.ts'
import { type RankingMeta, rowJson } from '../contract/ranking.ts'
import type { Table, TableRow } from '../contract/tables.ts'

/** The operating system byte of a gzip header; 255 means unknown (RFC 1952 § 2.3.1). */
const GZIP_SYSTEM_OFFSET = 9
const GZIP_SYSTEM_UNKNOWN = 255

export function writeCsv(rows: readonly TableRow[], table: Table = 'daily'): Buffer {
  return Buffer.from(canonicalCsvHeader(table) + rows.map(canonicalCsvRow).join(''))
}

export function writeJson(rows: readonly TableRow[], meta: RankingMeta): Buffer {
  return Buffer.from(`{"data":[${rows.map(rowJson).join(',')}],"meta":${JSON.stringify(meta)}}`)
}

export function writeNdjson(rows: readonly TableRow[]): Buffer {
  return Buffer.from(rows.map((row) => `${rowJson(row)}\n`).join(''))
}

/** Gzip that depends on the content alone: no time, name or operating system in the header. */
export async function gzip(bytes: Uint8Array, level: number = constants.Z_BEST_COMPRESSION): Promise<Buffer> {
  const compressed = await promisify(gzipOnThread)(bytes, { level })
  compressed.writeUInt8(GZIP_SYSTEM_UNKNOWN, GZIP_SYSTEM_OFFSET)
  return compressed
}

/** The hash of some rows of a table, the same in every format. */
export function contentHash(rows: readonly TableRow[], table: Table = 'daily'): ContentHash {
  return hashOfLines(rows.map(canonicalCsvRow), table)
}

/** The same of rows as canonical CSV, any number of them in each text. */
export function hashOfLines(lines: readonly string[], table: Table): ContentHash {
  const hash = createHash('sha256').update(canonicalCsvHeader(table) + lines.join(''))
  return `sha256:${hash.digest('hex')}`
}
