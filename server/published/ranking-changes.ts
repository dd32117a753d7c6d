import { setImmediate } from 'node:timers/promises'
import { CHANGE_COLUMNS, type ChangeRow, changeCsvRow, changesOfDate } from '../../pipeline/contract/change-log.ts'
import type { Table, TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Format } from './formats.ts'

/** A table of a release by the dates of its rows, in order. */
export interface RowsByDate {
  dates: readonly UtcDate[]
  /** In published order; none if there is no such date. */
  rowsOf(date: UtcDate): readonly TableRow[]
  /** The same as bytes: most dates are equal in both releases, and need no objects. */
  bytesOf(date: UtcDate): Buffer
}

/** Two rankings of so many dates are read, compared and written within some two milliseconds. */
const DATES_A_TURN = 20

/**
 * The changes that lead from the rows `before` to the rows `after`: the body of an answer. Other requests go on between
 * dates. `meta` is the value of that key, which only JSON has.
 */
export async function changesBody(
  { before, after, table }: { before: RowsByDate; after: RowsByDate; table: Table },
  format: Format,
  meta: object,
): Promise<Buffer> {
  const rows: Buffer[] = []
  const dates = [...new Set([...before.dates, ...after.dates])].sort()
  for (const [index, date] of dates.entries()) {
    if (index % DATES_A_TURN === 0) await setImmediate()
    if (before.bytesOf(date).equals(after.bytesOf(date))) continue
    const changes = changesOfDate(before.rowsOf(date), after.rowsOf(date))
    if (changes.length > 0) rows.push(Buffer.from(changes.map((change) => ROW[format](change, table)).join('')))
  }
  if (format === 'ndjson') return Buffer.concat(rows)
  if (format === 'csv') return Buffer.concat([Buffer.from(`${CHANGE_COLUMNS[table].join(',')}\n`), ...rows])
  const data = Buffer.concat(rows).subarray(1)
  return Buffer.concat([Buffer.from('{"data":['), data, Buffer.from(`],"meta":${JSON.stringify(meta)}}`)])
}

/** JSON rows begin with their separator, also the first. */
const ROW: Record<Format, (change: ChangeRow, table: Table) => string> = {
  json: (change) => `,${changeJson(change)}`,
  csv: changeCsvRow,
  ndjson: (change) => `${changeJson(change)}\n`,
}

/** What is not there is null. `days` are numbers, as in rows. */
function changeJson({ tokens_before, tokens_after, days_before, days_after, ...change }: ChangeRow): string {
  return JSON.stringify({
    ...change,
    tokens_before: tokens_before || null,
    tokens_after: tokens_after || null,
    days_before: numberOf(days_before),
    days_after: numberOf(days_after),
  })
}

/** Undefined in changes of the daily table, which has no such column. */
function numberOf(days: string | undefined): number | null | undefined {
  return days === undefined ? undefined : Number(days) || null
}
