import type { Table, TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import { compressDates, type GzipPieces, gzipComposer, type Link, type Picked, slice, slices } from './composed-gzip.ts'
import { type DateRows, ROW_FORMATS, serialiseDates } from './date-rows.ts'
import { FORMATS, type Format } from './negotiation.ts'

/** Rows in all formats, in pieces: one per date of a release, or one per version of a date in the history. */
export interface PreparedRows {
  rows: Record<Format, DateRows>
  gzip?: Record<Format, GzipPieces>
}

/** A table of a release, one piece per date of its rows. Those of the history have pieces of other releases, too. */
export interface PreparedTable extends PreparedRows, Picked {
  dates: string[]
  /** How many rows it has. */
  length: number
}

export function serialiseTable(rows: readonly TableRow[]): PreparedTable {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  const pieces = Uint32Array.from({ length: byDate.size }, (_, index) => index)
  return {
    dates: [...byDate.keys()],
    length: rows.length,
    rows: serialiseRows([...byDate.values()]),
    pieces,
    links: pieces.map((piece) => Math.max(piece - 1, 0)),
  }
}

export function compressTable(table: PreparedTable): PreparedTable {
  const links = Array.from(table.pieces.subarray(1), (piece): Link => [piece - 1, piece])
  return { ...table, gzip: compressRows(table.rows, links) }
}

/** A piece of the rows of each date, or of each version of a date. */
export function serialiseRows(dates: readonly (readonly TableRow[])[]): Record<Format, DateRows> {
  return ofEachFormat((format) => serialiseDates(dates, ROW_FORMATS[format]))
}

export function compressRows(rows: Record<Format, DateRows>, links: readonly Link[]): Record<Format, GzipPieces> {
  return ofEachFormat((format) => compressDates(rows[format], links))
}

export function tableAnswers(table: Table, { dates, rows, gzip, pieces, links }: PreparedTable) {
  const heads = ofEachFormat((format) => ROW_FORMATS[format].head(table))
  const composers: Partial<Record<Format, ReturnType<typeof gzipComposer>>> = {}
  const parsed: (readonly TableRow[])[] = []

  function composerOf(format: Format, gzip: Record<Format, GzipPieces>) {
    composers[format] ??= gzipComposer(heads[format], rows[format], gzip[format], { pieces, links })
    return composers[format]
  }

  function rangeOf({ start_date, end_date }: Window): [from: number, to: number] {
    return [countBefore(dates, (date) => date < start_date), countBefore(dates, (date) => date <= end_date)]
  }

  function rowsOf(index: number): readonly TableRow[] {
    const piece = pieces[index] ?? 0
    parsed[index] ??= parseRows(slice(rows.ndjson, piece, piece + 1))
    return parsed[index]
  }

  return {
    /** Those of its rows, ascending. */
    dates: dates as readonly UtcDate[],
    /** The body with the rows whose date is in a window. */
    pieces(window: Window, format: Format, coding: 'identity' | 'gzip', tail: Buffer): Buffer[] {
      const [from, to] = rangeOf(window)
      if (coding === 'gzip' && gzip !== undefined) return composerOf(format, gzip).compose(from, to, tail)
      return [heads[format], ...slices(rows[format], pieces.subarray(from, to), rows[format].separatorBytes), tail]
    },
    /** The rows of a window, or all. */
    rows(window?: Window): readonly TableRow[] {
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

/** The bytes of a table in memory, with the objects of all its rows. */
export function preparedBytes(table: PreparedTable): number {
  return bytesOfRows(table) + bytesOfObjects(table)
}

/** The bytes of the objects of all rows of a table: they may be parsed later. */
export function bytesOfObjects({ length }: PreparedTable): number {
  return length * BYTES_OF_ROW
}

/** The bytes of rows in all formats and codings. */
export function bytesOfRows({ rows, gzip }: PreparedRows): number {
  const ofFormat = (format: Format) => rows[format].bytes.length + (gzip ? bytesOf(gzip[format]) : 0)
  return FORMATS.reduce((sum, format) => sum + ofFormat(format), 0)
}

function bytesOf({ first, next }: GzipPieces): number {
  return first.bytes.length + next.bytes.length
}

function ofEachFormat<T>(make: (format: Format) => T): Record<Format, T> {
  return { json: make('json'), csv: make('csv'), ndjson: make('ndjson') }
}

/** Something of each table that is there. */
export function mapTables<A, B>(tables: Partial<Record<Table, A>>, map: (table: A) => B): Partial<Record<Table, B>> {
  const { daily, weekly, monthly } = tables
  return {
    ...(daily && { daily: map(daily) }),
    ...(weekly && { weekly: map(weekly) }),
    ...(monthly && { monthly: map(monthly) }),
  }
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
