import { CANONICAL_CSV_HEADER, canonicalCsvRow } from '../../pipeline/contract/canonical-csv.ts'
import { type RankingRow, rowJson } from '../../pipeline/contract/ranking.ts'
import type { Form } from './forms.ts'
import { type Run, runOf } from './run.ts'

/** The rows of a release in one form, a piece for each date, so that those of any window are one slice. */
export interface DateRows extends Run {
  /** How many bytes stand before the rows of a date that the first date of an answer is without. */
  separatorBytes: number
}

/** How a form writes rows: what stands before them, each row, and how much separates it from the one before. */
export interface RowFormat {
  head: Buffer
  row: (row: RankingRow) => string
  separatorBytes: number
}

export const ROW_FORMATS: Record<Form, RowFormat> = {
  json: { head: Buffer.from('{"data":['), row: (row) => `,${rowJson(row)}`, separatorBytes: 1 },
  csv: { head: Buffer.from(CANONICAL_CSV_HEADER), row: canonicalCsvRow, separatorBytes: 0 },
  ndjson: { head: Buffer.alloc(0), row: (row) => `${rowJson(row)}\n`, separatorBytes: 0 },
}

export function serialiseDates(dates: Iterable<RankingRow[]>, { row, separatorBytes }: RowFormat): DateRows {
  return { ...runOf([...dates].map((rows) => Buffer.from(rows.map(row).join('')))), separatorBytes }
}
