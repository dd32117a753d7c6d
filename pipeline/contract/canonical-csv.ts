import type { RankingRow } from './ranking.ts'

/** The first line of the canonical CSV, with its line ending. */
export const CANONICAL_CSV_HEADER = 'date,model_permaslug,total_tokens\n'

const NEEDS_QUOTES = /[",\r\n]/

/**
 * The line of `row` in the canonical CSV, with its LF. Header and lines in published order are the bytes that
 * `content_hash` is the SHA-256 of: RFC 4180 with quotes only where they are needed (DESIGN.md §5).
 */
export function canonicalCsvRow(row: RankingRow): string {
  return `${row.date},${csvField(row.model_permaslug)},${row.total_tokens}\n`
}

/** A text as a field of a CSV line, in quotes only where it needs them. */
export function csvField(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
