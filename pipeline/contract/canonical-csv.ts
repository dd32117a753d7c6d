import type { RankingRow } from './ranking.ts'

export const CANONICAL_CSV_HEADER = 'date,model_permaslug,total_tokens\n'

const NEEDS_QUOTES = /[",\r\n]/

/**
 * One row as a canonical CSV line with its LF: RFC 4180, quoted only where needed (DESIGN.md §5).
 * `content_hash` is the SHA-256 of the header and these lines in published order.
 */
export function canonicalCsvRow(row: RankingRow): string {
  return `${row.date},${csvField(row.model_permaslug)},${row.total_tokens}\n`
}

/** A CSV field, quoted only where needed. */
export function csvField(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
