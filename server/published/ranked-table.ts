import { setImmediate } from 'node:timers/promises'
import { OTHER, TOP_MODELS } from '../../pipeline/contract/ranking.ts'
import type { TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'

/** A row of a table, or the rows of a date that a selection joins to `other`. */
export interface RankedRow {
  readonly row: TableRow
  /** The place among the models of the whole table on its date, from 1; null for `other`. */
  readonly rank: number | null
  readonly of: RankedDate
}

/** All rows with one date, in published order: the models by rank, then `other`, if there is one. */
export interface RankedDate {
  readonly date: UtcDate
  readonly rows: readonly RankedRow[]
  /** The tokens of all rows. */
  total(): bigint
}

/** The rows of a table by date, ascending, and by model, in the order of their dates. */
export interface RankedTable {
  readonly dates: readonly RankedDate[]
  readonly models: ReadonlyMap<string, readonly RankedRow[]>
}

/** Dates that are added between two turns of the event loop: about two milliseconds of work. */
const DATES_A_TURN = 50

/** Takes the rows in published order. Make it once for each table of a release. */
export async function rankedTable(rows: readonly TableRow[]): Promise<RankedTable> {
  const dates: RankedDate[] = []
  const models = new Map<string, RankedRow[]>()
  for (const [date, ofDate] of Map.groupBy(rows, (row) => row.date)) {
    const ranked = rankedDate(date, ofDate)
    for (const row of ranked.rows) {
      const ofModel = models.get(row.row.model_permaslug)
      if (ofModel === undefined) models.set(row.row.model_permaslug, [row])
      else ofModel.push(row)
    }
    dates.push(ranked)
    if (dates.length % DATES_A_TURN === 0) await setImmediate()
  }
  return { dates, models }
}

/** The models of a date up to a rank, then `other`: what the rest sums up to, if there is any. */
export function topOf(of: RankedDate, top = TOP_MODELS): RankedRow[] {
  const rest = restOf(of, top)
  const named = of.rows.filter(({ rank }) => rank !== null && rank <= top)
  return rest === undefined ? named : [...named, rest]
}

/** `other` of a date when it names only models up to a rank. */
export function restOf(of: RankedDate, top = TOP_MODELS): RankedRow | undefined {
  const joined = of.rows.filter(({ rank }) => rank === null || rank > top)
  const [first] = joined
  if (first === undefined || first.rank === null) return first
  const row = { ...first.row, model_permaslug: OTHER, total_tokens: String(sumOf(joined)) }
  return { row, rank: null, of }
}

function rankedDate(date: UtcDate, rows: readonly TableRow[]): RankedDate {
  const ranked: RankedRow[] = []
  let total: bigint | undefined
  const of: RankedDate = {
    date,
    rows: ranked,
    total() {
      total ??= sumOf(ranked)
      return total
    },
  }
  for (const row of rows) ranked.push({ row, rank: row.model_permaslug === OTHER ? null : ranked.length + 1, of })
  return of
}

function sumOf(rows: readonly RankedRow[]): bigint {
  return rows.reduce((sum, { row }) => sum + BigInt(row.total_tokens), 0n)
}
