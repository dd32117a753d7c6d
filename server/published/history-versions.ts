import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { HISTORY_COLUMNS, type HistoryRow, standsIn } from '../../pipeline/contract/history-table.ts'
import { TABLES, type Table, type TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { csvRecords } from '../base/csv.ts'

/** In which releases a version stands, as in a row of the history. */
export type Interval = Pick<HistoryRow, 'valid_from' | 'valid_to'>

/** The rows of a date in a table, as all releases of an interval have them. */
export interface DateVersion extends Interval {
  date: UtcDate
  /** In published order. */
  rows: TableRow[]
}

/** The versions of each table of the history, by date and release. */
export type HistoryVersions = Partial<Record<Table, DateVersion[]>>

interface Placed extends Interval {
  position: number
  row: TableRow
}

const gunzipOffLoop = promisify(gunzip)

/**
 * Reads `history.csv.gz`. Its rows are not checked here: what answers from them compares the content hash of each release.
 * Throws if it is not a gzip, or has other columns.
 */
export async function readVersions(path: string): Promise<HistoryVersions> {
  const text = (await gunzipOffLoop(await readFile(path))).toString('utf8')
  const records = csvRecords(text)
  if (records.next().value?.join() !== HISTORY_COLUMNS.join())
    throw new Error(`${path} does not have the columns of a history`)
  const versions: HistoryVersions = {}
  for (const ofDate of recordsOfDates(records)) {
    const [name, date = ''] = ofDate[0] ?? []
    const table = TABLES.find((each) => each === name)
    if (table === undefined) throw new Error(`${path} has an unknown table ${name}`)
    versions[table] ??= []
    versions[table].push(...versionsOf(date, ofDate.map(placed)))
  }
  return versions
}

/** The records of a table have its dates in order. */
function* recordsOfDates(records: Iterable<string[]>): Generator<string[][]> {
  let ofDate: string[][] = []
  for (const record of records) {
    const [table, date] = ofDate[0] ?? record
    if (record[0] !== table || record[1] !== date) {
      yield ofDate
      ofDate = []
    }
    ofDate.push(record)
  }
  if (ofDate.length > 0) yield ofDate
}

function placed([
  ,
  date = '',
  model_permaslug = '',
  total_tokens = '',
  days,
  position,
  from = '',
  to,
]: string[]): Placed {
  const row = { date, model_permaslug, total_tokens, ...(days && { days: Number(days) }) }
  return { position: Number(position), row, valid_from: from, valid_to: to || null }
}

/** A date has other rows wherever one of its rows begins or ends. */
function versionsOf(date: UtcDate, placed: readonly Placed[]): DateVersion[] {
  const ends = placed.flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? LAST])
  const marks = [...new Set(ends)].sort()
  const ordered = placed.toSorted((a, b) => a.position - b.position)
  return marks.slice(0, -1).flatMap((valid_from, index) => {
    const end = marks[index + 1] ?? LAST
    const rows = ordered.filter((each) => standsIn(each, valid_from)).map(({ row }) => row)
    return rows.length === 0 ? [] : [{ date, valid_from, valid_to: end === LAST ? null : end, rows }]
  })
}

/** Sorts after all names of releases. */
const LAST = 'current'
