import { CANONICAL_CSV_HEADER, canonicalCsvRow } from '../../pipeline/contract/canonical-csv.ts'
import { type RankingRow, rowJson } from '../../pipeline/contract/ranking.ts'
import type { Format } from './formats.ts'
import { type Run, runOf } from './run.ts'

/** The rows of a release in one format, one piece per date, so that any window is one slice. */
export interface DateRows extends Run {
  /** Bytes before the rows of a date that a first date omits. */
  separatorBytes: number
}

export interface RowFormat {
  head: Buffer
  row: (row: RankingRow) => string
  separatorBytes: number
}

export const ROW_FORMATS: Record<Format, RowFormat> = {
  json: { head: Buffer.from('{"data":['), row: (row) => `,${rowJson(row)}`, separatorBytes: 1 },
  csv: { head: Buffer.from(CANONICAL_CSV_HEADER), row: canonicalCsvRow, separatorBytes: 0 },
  ndjson: { head: Buffer.alloc(0), row: (row) => `${rowJson(row)}\n`, separatorBytes: 0 },
}

export function serialiseDates(dates: Iterable<RankingRow[]>, { row, separatorBytes }: RowFormat): DateRows {
  return { ...runOf([...dates].map((rows) => Buffer.from(rows.map(row).join('')))), separatorBytes }
}
