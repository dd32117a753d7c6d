import { createHash } from 'node:crypto'
import { canonicalCsvHeader, canonicalCsvRow } from '../contract/canonical-csv.ts'
import type { ContentHash } from '../contract/manifest.ts'
import { type RankingMeta, rowJson } from '../contract/ranking.ts'
import type { Table, TableRow } from '../contract/tables.ts'

const KNOWN_LINES = new WeakMap<readonly TableRow[], readonly string[]>()

/** Rows as canonical CSV. Those of a whole table are kept with it: its files and many hashes are made of them. */
export function canonicalLines(rows: readonly TableRow[]): readonly string[] {
  const known = KNOWN_LINES.get(rows) ?? rows.map(canonicalCsvRow)
  KNOWN_LINES.set(rows, known)
  return known
}

export function writeCsv(rows: readonly TableRow[], table: Table = 'daily'): Buffer {
  return Buffer.from(canonicalCsvHeader(table) + canonicalLines(rows).join(''))
}

export function writeJson(rows: readonly TableRow[], meta: RankingMeta): Buffer {
  return joinJson(rows.map(rowJson), meta)
}

/** The same of rows as JSON. */
export function joinJson(rows: readonly string[], meta: RankingMeta): Buffer {
  return Buffer.from(`{"data":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`)
}

export function joinNdjson(rows: readonly string[]): Buffer {
  return Buffer.from(rows.map((row) => `${row}\n`).join(''))
}

/** The hash of some rows of a table, the same in every format. */
export function contentHash(rows: readonly TableRow[], table: Table = 'daily'): ContentHash {
  return hashOfLines(canonicalLines(rows), table)
}

/** The same of rows as canonical CSV, any number of them in each text. */
export function hashOfLines(lines: readonly string[], table: Table): ContentHash {
  const hash = createHash('sha256').update(canonicalCsvHeader(table) + lines.join(''))
  return `sha256:${hash.digest('hex')}`
}
