import { setImmediate } from 'node:timers/promises'
import { CHANGE_COLUMNS, type ChangeRow, changeCsvRow, changesOfDate } from '../../pipeline/contract/change-log.ts'
import type { Table, TableRow } from '../../pipeline/contract/tables.ts'
import type { Format } from './formats.ts'

type Rows = readonly TableRow[]

/** Two rankings of these dates are compared and written within some two milliseconds. */
const DATES_A_TURN = 20

/**
 * The changes that lead from the rows `before` to the rows `after`, both in published order: the body of an answer.
 * Other requests go on between dates. `meta` is the JSON of that key, which only JSON has.
 */
export async function changesBody(
  { before, after, table }: { before: Rows; after: Rows; table: Table },
  format: Format,
  meta: object,
): Promise<Buffer> {
  const rows: Buffer[] = []
  let dates = 0
  for (const [previous, newer] of byDate(before, after)) {
    const changes = changesOfDate(previous, newer)
    if (changes.length > 0) rows.push(Buffer.from(changes.map((change) => ROW[format](change, table)).join('')))
    if (++dates % DATES_A_TURN === 0) await setImmediate()
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

/** The rows of each date that one of them has. */
function* byDate(before: Rows, after: Rows): Generator<[previous: Rows, newer: Rows]> {
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const date = earlier(before[i]?.date, after[j]?.date)
    const [k, l] = [endOf(before, i, date), endOf(after, j, date)]
    yield [before.slice(i, k), after.slice(j, l)]
    i = k
    j = l
  }
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}

/** The index after the rows of `date`, which begin at `from` if there are any. */
function endOf(rows: Rows, from: number, date: string | undefined): number {
  let end = from
  while (rows[end]?.date === date && end < rows.length) end++
  return end
}
