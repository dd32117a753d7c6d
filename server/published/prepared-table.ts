import type { Table, TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import { compressDates, type GzipPieces, gzipComposer } from './composed-gzip.ts'
import { type DateRows, ROW_FORMATS, serialiseDates } from './date-rows.ts'
import { FORMATS, type Format } from './formats.ts'
import { slice } from './run.ts'

/** A table in all formats, one piece per date of its rows. */
export interface PreparedTable {
  dates: string[]
  /** How many rows it has. */
  length: number
  rows: Record<Format, DateRows>
  gzip?: Record<Format, GzipPieces>
}

export function serialiseTable(rows: readonly TableRow[]): PreparedTable {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  return {
    dates: [...byDate.keys()],
    length: rows.length,
    rows: ofEachFormat((format) => serialiseDates(byDate.values(), ROW_FORMATS[format])),
  }
}

export function compressTable(table: PreparedTable): PreparedTable {
  return { ...table, gzip: ofEachFormat((format) => compressDates(table.rows[format])) }
}

export interface TableAnswers {
  /** Those of its rows, ascending. */
  readonly dates: readonly UtcDate[]
  /** The body with the rows whose date is in `dates`. */
  pieces(dates: Window, format: Format, coding: 'identity' | 'gzip', tail: Buffer): Buffer[]
  /** These rows, or all. */
  rows(dates?: Window): readonly TableRow[]
}

export function tableAnswers(table: Table, { dates, rows, gzip }: PreparedTable): TableAnswers {
  const heads = ofEachFormat((format) => ROW_FORMATS[format].head(table))
  const composers = gzip && ofEachFormat((format) => gzipComposer(heads[format], rows[format], gzip[format]))
  const parsed: (readonly TableRow[])[] = []

  function rangeOf({ start_date, end_date }: Window): [from: number, to: number] {
    return [countBefore(dates, (date) => date < start_date), countBefore(dates, (date) => date <= end_date)]
  }

  function rowsOf(index: number): readonly TableRow[] {
    parsed[index] ??= parseRows(slice(rows.ndjson, index, index + 1))
    return parsed[index]
  }

  return {
    dates,
    pieces(window, format, coding, tail) {
      const [from, to] = rangeOf(window)
      if (coding === 'gzip' && composers !== undefined) return composers[format].compose(from, to, tail)
      return [heads[format], rowsBetween(rows[format], from, to), tail]
    },
    rows(window) {
      const [from, to] = window === undefined ? [0, dates.length] : rangeOf(window)
      return Array.from({ length: to - from }, (_, index) => rowsOf(from + index)).flat()
    },
  }
}

function parseRows(ndjson: Buffer): TableRow[] {
  return JSON.parse(`[${ndjson.toString('utf8').trimEnd().replaceAll('\n', ',')}]`)
}

/** Of an object with its texts in memory, and of its rank (`ranked-table.ts`). */
const BYTES_OF_ROW = 240

/** The bytes of a table in memory, with the objects of all its rows: they may be parsed later. */
export function preparedBytes({ length, rows, gzip }: PreparedTable): number {
  const ofFormats = FORMATS.map((format) => rows[format].bytes.length + (gzip ? bytesOf(gzip[format]) : 0))
  return ofFormats.reduce((sum, bytes) => sum + bytes, length * BYTES_OF_ROW)
}

function rowsBetween(rows: DateRows, from: number, to: number): Buffer {
  return from === to ? Buffer.alloc(0) : slice(rows, from, to, rows.separatorBytes)
}

function bytesOf({ first, next }: GzipPieces): number {
  return first.bytes.length + next.bytes.length
}

function ofEachFormat<T>(make: (format: Format) => T): Record<Format, T> {
  return { json: make('json'), csv: make('csv'), ndjson: make('ndjson') }
}

/** Binary search: the number of `dates` for which `isBefore` holds. */
function countBefore(dates: readonly string[], isBefore: (date: string) => boolean): number {
  let [low, high] = [0, dates.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(dates[middle] ?? '')) low = middle + 1
    else high = middle
  }
  return low
}
