import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta } from '../../pipeline/contract/ranking.ts'
import { firstDateOf, type Table, type TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import type { Format } from './negotiation.ts'
import { type PreparedTable, preparedBytes, tableAnswers } from './prepared-table.ts'

export interface Answer {
  pieces: Buffer[]
  bytes: number
}

/** A release prepared for answers. Immutable: use one `Dataset` per answer. */
export interface Dataset {
  readonly manifest: Manifest
  /** What it takes in memory, with the objects of `rows`. */
  readonly bytes: number
  readonly hasGzip: boolean
  /** False while it has its daily table alone, without authors: the first answer of a server waits for no more. */
  readonly isComplete: boolean
  has(table: Table): boolean
  /** The dates of the rows of a table, ascending. */
  dates(table: Table): readonly UtcDate[]
  /**
   * The body of a window that was moved outwards to whole periods. Gzip is composed, not compressed
   * (docs/decisions/0019-serving-windows.md).
   */
  answer(table: Table, window: Window, format: Format, coding?: 'identity' | 'gzip'): Answer
  /** The rows of a table, or those of the periods of a window, in published order. Parsed once, when they are needed. */
  rows(table: Table, window?: Window): readonly TableRow[]
  /** The authors of `models.csv` by slug, without models whose author is unknown. Undefined if the release has no such file. */
  authors(): ReadonlyMap<string, string> | undefined
}

/** A release as the thread that read it hands it over. */
export interface PreparedRelease {
  manifest: Manifest
  tables: Partial<Record<Table, PreparedTable>>
  authors?: ReadonlyMap<string, string> | undefined
  isComplete: boolean
}

export function datasetOf({ manifest, tables, authors, isComplete }: PreparedRelease): Dataset {
  const prepared = Object.entries(tables) as [Table, PreparedTable][]
  const answersOf = new Map(prepared.map(([table, each]) => [table, tableAnswers(table, each)]))

  function find(table: Table) {
    const answers = answersOf.get(table)
    if (answers === undefined) throw new Error(`${manifest.release} has no ${table} table`)
    return answers
  }

  return {
    manifest,
    bytes: prepared.reduce((sum, [, table]) => sum + preparedBytes(table), 0),
    hasGzip: prepared.every(([, { gzip }]) => gzip !== undefined),
    isComplete,
    has: (table) => answersOf.has(table),
    dates: (table) => find(table).dates,
    answer: (table, window, format, coding = 'identity') =>
      answerOf(find(table).pieces(periodsOf(table, window), format, coding, tailOf(manifest, window, format))),
    rows: (table, window) => find(table).rows(window && periodsOf(table, window)),
    authors: () => authors,
  }
}

/** By the dates of rows: the period that has the first date of the window may begin before it. */
function periodsOf(table: Table, { start_date, end_date }: Window): Window {
  return { start_date: firstDateOf(table, start_date), end_date }
}

function tailOf({ as_of }: Manifest, { start_date, end_date }: Window, format: Format): Buffer {
  if (format !== 'json') return NOTHING
  const meta: RankingMeta = { as_of, start_date, end_date, version: DATASET_VERSION }
  return Buffer.from(`],"meta":${JSON.stringify(meta)}}`)
}

const NOTHING = Buffer.alloc(0)

function answerOf(pieces: Buffer[]): Answer {
  const filled = pieces.filter(({ length }) => length > 0)
  return { pieces: filled, bytes: filled.reduce((sum, { length }) => sum + length, 0) }
}
