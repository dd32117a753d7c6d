import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta } from '../../pipeline/contract/ranking.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import { compressDates, type GzipPieces, gzipComposer } from './composed-gzip.ts'
import { type DateRows, ROW_FORMATS, serialiseDates } from './date-rows.ts'
import { FORMATS, type Format } from './formats.ts'
import type { Release } from './release.ts'
import { slice } from './run.ts'

export interface Answer {
  pieces: Buffer[]
  bytes: number
}

/** A release prepared for answers. Immutable: use one `Dataset` per answer. */
export interface Dataset {
  readonly manifest: Manifest
  readonly bytes: number
  readonly hasGzip: boolean
  /** The body of a resolved window. Gzip is composed, not compressed (docs/decisions/0019-serving-windows.md). */
  answer(window: Window, format: Format, coding?: 'identity' | 'gzip'): Answer
}

export interface PreparedRelease {
  manifest: Manifest
  dates: string[]
  rows: Record<Format, DateRows>
  gzip?: Record<Format, GzipPieces>
}

export function serialiseRelease({ manifest, rows }: Release): PreparedRelease {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  return {
    manifest,
    dates: [...byDate.keys()],
    rows: ofEachFormat((format) => serialiseDates(byDate.values(), ROW_FORMATS[format])),
  }
}

export function compressRelease({ rows }: PreparedRelease): Record<Format, GzipPieces> {
  return ofEachFormat((format) => compressDates(rows[format]))
}

export function datasetOf({ manifest, dates, rows, gzip }: PreparedRelease): Dataset {
  const composers = gzip && ofEachFormat((format) => gzipComposer(ROW_FORMATS[format].head, rows[format], gzip[format]))

  function rangeOf({ start_date, end_date }: Window): [from: number, to: number] {
    return [countBefore(dates, (date) => date < start_date), countBefore(dates, (date) => date <= end_date)]
  }

  function tailOf({ start_date, end_date }: Window, format: Format): Buffer {
    if (format !== 'json') return NOTHING
    const meta: RankingMeta = { as_of: manifest.as_of, start_date, end_date, version: DATASET_VERSION }
    return Buffer.from(`],"meta":${JSON.stringify(meta)}}`)
  }

  return {
    manifest,
    bytes: FORMATS.reduce((sum, format) => sum + rows[format].bytes.length + (gzip ? bytesOf(gzip[format]) : 0), 0),
    hasGzip: composers !== undefined,
    answer(window, format, coding = 'identity') {
      const [from, to] = rangeOf(window)
      const tail = tailOf(window, format)
      if (coding === 'gzip' && composers !== undefined) return answerOf(composers[format].compose(from, to, tail))
      return answerOf([ROW_FORMATS[format].head, rowsBetween(rows[format], from, to), tail])
    },
  }
}

const NOTHING = Buffer.alloc(0)

function answerOf(pieces: Buffer[]): Answer {
  const filled = pieces.filter(({ length }) => length > 0)
  return { pieces: filled, bytes: filled.reduce((sum, { length }) => sum + length, 0) }
}

function rowsBetween(rows: DateRows, from: number, to: number): Buffer {
  return from === to ? NOTHING : slice(rows, from, to, rows.separatorBytes)
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
