import { setImmediate } from 'node:timers/promises'
import { CHANGE_COLUMNS, type ChangeRow, changeCsvRow, changesOfDate } from '../../pipeline/contract/change-log.ts'
import { DATASET_VERSION } from '../../pipeline/contract/ranking.ts'
import { TABLE_OF, type Table, type TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Dataset } from './dataset.ts'
import type { Coding, Format } from './negotiation.ts'
import {
  computedAnswers,
  contentHashOf,
  contentHeaders,
  encoded,
  oneAtATime,
  type RankingsAnswer,
  rankingsHeaders,
  rankingsTag,
} from './rankings-answers.ts'

/** Two releases that both have the table of a period. */
export interface Comparison {
  from: Dataset
  to: Dataset
  period: keyof typeof TABLE_OF
}

/** Answers what differs between two releases. */
export function changesAnswers() {
  const answers = computedAnswers()
  const inTurn = oneAtATime()

  async function make(comparison: Comparison, etag: string, format: Format, coding: Coding): Promise<RankingsAnswer> {
    const { from, to, period } = comparison
    const table = TABLE_OF[period]
    const meta = {
      from: comparedRelease(from, table),
      to: comparedRelease(to, table),
      period,
      version: DATASET_VERSION,
    }
    const plain = await changesBody({ before: byDate(from, table), after: byDate(to, table), table }, format, meta)
    const body = await encoded(plain, coding)
    return {
      etag,
      headers: rankingsHeaders(to.manifest, { table, window: to.manifest }),
      tagIs: 'last',
      contentHeaders: contentHeaders(
        format,
        coding,
        `rankings-${table}-changes_${meta.from.release}_${meta.to.release}`,
      ),
      body: () => body,
    }
  }

  return {
    find(comparison: Comparison, format: Format, coding: Coding): RankingsAnswer | Promise<RankingsAnswer> {
      const table = TABLE_OF[comparison.period]
      const [from, to] = [comparison.from, comparison.to].map(({ manifest }) => {
        return rankingsTag(manifest, { table, window: manifest })
      })
      const etag = `"changes-${from}-${to}-${format}-${coding}"`
      return answers.find(etag, () => inTurn(() => make(comparison, etag, format, coding)))
    },
  }
}

function comparedRelease({ manifest }: Dataset, table: Table) {
  const { release, as_of, start_date, end_date } = manifest
  return { release, as_of, start_date, end_date, content_hash: contentHashOf(manifest, table) }
}

function byDate(dataset: Dataset, table: Table): RowsByDate {
  return {
    dates: dataset.dates(table),
    rowsOf: (date) => dataset.rows(table, { start_date: date, end_date: date }),
    bytesOf: (date) => Buffer.concat(dataset.answer(table, { start_date: date, end_date: date }, 'ndjson').pieces),
  }
}

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
