import type { Table, TableRow } from './tables.ts'

/** The header of the daily table. */
export const CANONICAL_CSV_HEADER = 'date,model_permaslug,total_tokens\n'

export function canonicalCsvHeader(table: Table): string {
  return table === 'daily' ? CANONICAL_CSV_HEADER : 'date,model_permaslug,total_tokens,days\n'
}

const NEEDS_QUOTES = /[",\r\n]/

/**
 * One row as a canonical CSV line with its LF: RFC 4180, quoted only where needed.
 * `content_hash` is the SHA-256 of the header and these lines in published order.
 */
export function canonicalCsvRow({ date, model_permaslug, total_tokens, days }: TableRow): string {
  const row = `${date},${csvField(model_permaslug)},${total_tokens}`
  return days === undefined ? `${row}\n` : `${row},${days}\n`
}

/** A CSV field, quoted only where needed. */
export function csvField(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
