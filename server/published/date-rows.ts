import { canonicalCsvHeader, canonicalCsvRow } from '../../pipeline/contract/canonical-csv.ts'
import { rowJson } from '../../pipeline/contract/ranking.ts'
import type { Table, TableRow } from '../../pipeline/contract/tables.ts'
import { type Run, runOf } from './composed-gzip.ts'
import type { Format } from './negotiation.ts'

/** The rows of a table in one format, one piece per date, so that any window is one slice. */
export interface DateRows extends Run {
  /** Bytes before the rows of a date that a first date omits. */
  separatorBytes: number
}

export interface RowFormat {
  head: (table: Table) => Buffer
  row: (row: TableRow) => string
  separatorBytes: number
}

export const ROW_FORMATS: Record<Format, RowFormat> = {
  json: { head: () => Buffer.from('{"data":['), row: (row) => `,${rowJson(row)}`, separatorBytes: 1 },
  csv: { head: (table) => Buffer.from(canonicalCsvHeader(table)), row: canonicalCsvRow, separatorBytes: 0 },
  ndjson: { head: () => Buffer.alloc(0), row: (row) => `${rowJson(row)}\n`, separatorBytes: 0 },
}

export function serialiseDates(dates: Iterable<readonly TableRow[]>, { row, separatorBytes }: RowFormat): DateRows {
  return { ...runOf([...dates].map((rows) => Buffer.from(rows.map(row).join('')))), separatorBytes }
}
