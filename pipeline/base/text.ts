import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip as gzipOnThread } from 'node:zlib'
import { CANONICAL_CSV_HEADER, canonicalCsvRow } from '../contract/canonical-csv.ts'
import type { ContentHash } from '../contract/manifest.ts'
import { type RankingMeta, type RankingRow, rowJson } from '../contract/ranking.ts'

/** The byte of a gzip header that names the operating system; 255 is "unknown" (RFC 1952 § 2.3.1). */
const GZIP_SYSTEM_OFFSET = 9
const GZIP_SYSTEM_UNKNOWN = 255

/** The canonical CSV of a release. */
export function writeCsv(rows: readonly RankingRow[]): Buffer {
  return Buffer.from(CANONICAL_CSV_HEADER + rows.map(canonicalCsvRow).join(''))
}

/** The rows as the API answers them, `{"data":[…],"meta":{…}}`. */
export function writeJson(rows: readonly RankingRow[], meta: RankingMeta): Buffer {
  return Buffer.from(`{"data":[${rows.map(rowJson).join(',')}],"meta":${JSON.stringify(meta)}}`)
}

/** One row a line. */
export function writeNdjson(rows: readonly RankingRow[]): Buffer {
  return Buffer.from(rows.map((row) => `${rowJson(row)}\n`).join(''))
}

/** Gzip whose bytes depend on the content alone: no time, no name, no operating system. */
export async function gzip(bytes: Uint8Array): Promise<Buffer> {
  const compressed = await promisify(gzipOnThread)(bytes, { level: constants.Z_BEST_COMPRESSION })
  compressed.writeUInt8(GZIP_SYSTEM_UNKNOWN, GZIP_SYSTEM_OFFSET)
  return compressed
}

/** The hash of a set of rows, the same whatever file they stand in. */
export function contentHash(rows: readonly RankingRow[]): ContentHash {
  const hash = createHash('sha256').update(CANONICAL_CSV_HEADER + rows.map(canonicalCsvRow).join(''))
  return `sha256:${hash.digest('hex')}`
}
