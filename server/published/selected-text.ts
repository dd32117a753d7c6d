import { setImmediate } from 'node:timers/promises'
import { csvField } from '../../pipeline/contract/canonical-csv.ts'
import type { RankingMeta } from '../../pipeline/contract/ranking.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Format } from './negotiation.ts'
import type { Authors, Field, RankedRow } from './selection.ts'

/** What cells are made of besides their row. */
export interface CellContext {
  authors: Authors
  /** The first provisional date of the table. */
  provisionalFrom: UtcDate
}

type Cell = string | number | boolean | null

const CELLS: Record<Field, (ranked: RankedRow, context: CellContext) => Cell> = {
  date: ({ row }) => row.date,
  model_permaslug: ({ row }) => row.model_permaslug,
  total_tokens: ({ row }) => row.total_tokens,
  rank: ({ rank }) => rank,
  share: ({ row, of }) => shareOf(BigInt(row.total_tokens), of.total()),
  author: ({ row }, { authors }) => authors.get(row.model_permaslug) ?? null,
  days: ({ row }) => row.days ?? 1,
  provisional: ({ row }, { provisionalFrom }) => row.date >= provisionalFrom,
}

const MILLION = 1_000_000n

/** A share of a total, rounded half up to 6 decimals. */
export function shareOf(tokens: bigint, total: bigint): number {
  if (total === 0n) return 0
  return Number((2n * MILLION * tokens + total) / (2n * total)) / Number(MILLION)
}

/** Rows that are written between two turns of the event loop: about a millisecond of work. */
const ROWS_A_TURN = 500

/** The rows in one format, with the head of the format: `{"data":[` or the line of column names. */
export async function rowsText(
  rows: readonly RankedRow[],
  fields: readonly Field[],
  format: Format,
  context: CellContext,
): Promise<Buffer[]> {
  const lineOf = LINES[format](fields, context)
  const pieces = [Buffer.from(HEADS[format](fields))]
  for (let from = 0; from < rows.length; from += ROWS_A_TURN) {
    if (from > 0) await setImmediate()
    const lines = rows.slice(from, from + ROWS_A_TURN).map(lineOf)
    pieces.push(Buffer.from(format === 'json' ? (from > 0 ? ',' : '') + lines.join(',') : lines.join('')))
  }
  return pieces
}

/** What a JSON body has after its rows. */
export function jsonTail(meta: RankingMeta, page?: { next: string | null; totalCount: number }): Buffer {
  const more = page === undefined ? {} : { links: { next: page.next }, total_count: page.totalCount }
  return Buffer.from(`],${JSON.stringify({ meta, ...more }).slice(1)}`)
}

type LineOf = (row: RankedRow) => string

const HEADS: Record<Format, (fields: readonly Field[]) => string> = {
  json: () => '{"data":[',
  csv: (fields) => `${fields.join(',')}\n`,
  ndjson: () => '',
}

const LINES: Record<Format, (fields: readonly Field[], context: CellContext) => LineOf> = {
  json: jsonLine,
  csv: csvLine,
  ndjson(fields, context) {
    const lineOf = jsonLine(fields, context)
    return (row) => `${lineOf(row)}\n`
  },
}

function jsonLine(fields: readonly Field[], context: CellContext): LineOf {
  const members = fields.map((field, index) => ({ key: `${index === 0 ? '{' : ','}"${field}":`, cell: CELLS[field] }))
  return (row) => {
    let line = ''
    for (const { key, cell } of members) line += key + JSON.stringify(cell(row, context))
    return `${line}}`
  }
}

function csvLine(fields: readonly Field[], context: CellContext): LineOf {
  const cells = fields.map((field) => CELLS[field])
  // Readers skip blank lines, so quote the empty cell of an only column.
  const empty = fields.length === 1 ? '""' : ''
  return (row) => {
    const texts = cells.map((cell) => {
      const value = cell(row, context)
      return value === null ? empty : csvField(String(value))
    })
    return `${texts.join(',')}\n`
  }
}
