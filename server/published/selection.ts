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

type RowsByModel = ReadonlyMap<string, readonly RankedRow[]>

export type RankedTable = ReturnType<typeof rankedTable>

/** Dates that are ranked in one turn: about two milliseconds of work. */
const DATES_A_TURN = 50

/**
 * A table whose rows are ranked when they are first asked for, some dates in each turn of the event loop. Takes its dates in
 * ascending order, and the rows of each in published order.
 */
export function rankedTable(dates: readonly UtcDate[], rowsOf: (date: UtcDate) => readonly TableRow[]) {
  const ranked = new Map<UtcDate, RankedDate>()
  let models: Promise<RowsByModel> | undefined

  function find(date: UtcDate): RankedDate {
    const found = ranked.get(date) ?? rankedDate(date, rowsOf(date))
    ranked.set(date, found)
    return found
  }

  /** The dates with rows from `first` to `last`. */
  async function between(first: UtcDate, last: UtcDate): Promise<RankedDate[]> {
    const found: RankedDate[] = []
    for (const date of dates) {
      if (date < first || date > last) continue
      if (found.length > 0 && found.length % DATES_A_TURN === 0) await setImmediate()
      found.push(find(date))
    }
    return found
  }

  async function byModel(): Promise<RowsByModel> {
    const models = new Map<string, RankedRow[]>()
    for (const [index, { rows }] of (await between(dates[0] ?? '', dates.at(-1) ?? '')).entries()) {
      if (index % DATES_A_TURN === 0) await setImmediate()
      for (const ranked of rows) {
        const ofModel = models.get(ranked.row.model_permaslug)
        if (ofModel === undefined) models.set(ranked.row.model_permaslug, [ranked])
        else ofModel.push(ranked)
      }
    }
    return models
  }

  return {
    between,
    /** The rows of each model in the order of their dates. */
    models(): Promise<RowsByModel> {
      models ??= byModel()
      return models
    },
  }
}

/** The models of a date up to a rank, then `other`: what the rest sums up to, if there is any. */
export function topOf(of: RankedDate, top = TOP_MODELS): readonly RankedRow[] {
  const rest = restOf(of, top)
  return rest === undefined || rest === of.rows.at(-1) ? of.rows : [...of.rows.slice(0, top), rest]
}

/** `other` of a date that names only models up to a rank. */
export function restOf(of: RankedDate, top = TOP_MODELS): RankedRow | undefined {
  const [first, ...others] = of.rows.slice(top)
  if (first === undefined) return of.rows.findLast(({ rank }) => rank === null)
  if (first.rank === null) return first
  const row = { ...first.row, model_permaslug: OTHER, total_tokens: String(sumOf([first, ...others])) }
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

/** The columns that `fields` can name. */
export const FIELDS = [
  'date',
  'model_permaslug',
  'total_tokens',
  'rank',
  'share',
  'author',
  'days',
  'provisional',
] as const
export type Field = (typeof FIELDS)[number]

/** The author of each model of a release that has one. */
export type Authors = ReadonlyMap<string, string>

/** Which rows of a window a request asks for, by the parameters of those names. */
export interface RowSelection {
  top?: number | undefined
  model?: readonly string[] | undefined
  author?: readonly string[] | undefined
}

/** The rows of the dates from `first` to `last`, in published order: `top`, then the models and authors. */
export async function selectRows(
  table: RankedTable,
  { first, last }: { first: UtcDate; last: UtcDate },
  { top = TOP_MODELS, model, author }: RowSelection,
  authors: Authors = new Map(),
): Promise<RankedRow[]> {
  if (model === undefined && author === undefined) {
    return (await table.between(first, last)).flatMap((date) => topOf(date, top))
  }
  const models = await table.models()
  const wanted = new Set([...(model ?? []), ...slugsOf(author ?? [], authors)])
  const rows = [...wanted].flatMap((slug) => {
    const ofModel = models.get(slug) ?? []
    return ofModel.filter(({ row, rank }) => rank !== null && rank <= top && row.date >= first && row.date <= last)
  })
  if (wanted.has(OTHER)) {
    for (const date of await table.between(first, last)) {
      const rest = restOf(date, top)
      if (rest !== undefined) rows.push(rest)
    }
  }
  return wanted.size === 1 ? rows : rows.toSorted(inPublishedOrder)
}

function slugsOf(names: readonly string[], authors: Authors): string[] {
  return [...authors].filter(([, author]) => names.includes(author)).map(([slug]) => slug)
}

function inPublishedOrder(a: RankedRow, b: RankedRow): number {
  if (a.row.date !== b.row.date) return a.row.date < b.row.date ? -1 : 1
  return (a.rank ?? Infinity) - (b.rank ?? Infinity)
}
