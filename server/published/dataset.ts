import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta } from '../../pipeline/contract/ranking.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import { compressDates, type GzipPieces, gzipComposer } from './composed-gzip.ts'
import { type DateRows, ROW_FORMATS, serialiseDates } from './date-rows.ts'
import { FORMS, type Form } from './forms.ts'
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
  answer(window: Window, form: Form, coding?: 'identity' | 'gzip'): Answer
}

export interface PreparedRelease {
  manifest: Manifest
  dates: string[]
  rows: Record<Form, DateRows>
  gzip?: Record<Form, GzipPieces>
}

export function serialiseRelease({ manifest, rows }: Release): PreparedRelease {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  return {
    manifest,
    dates: [...byDate.keys()],
    rows: ofEachForm((form) => serialiseDates(byDate.values(), ROW_FORMATS[form])),
  }
}

export function compressRelease({ rows }: PreparedRelease): Record<Form, GzipPieces> {
  return ofEachForm((form) => compressDates(rows[form]))
}

export function datasetOf({ manifest, dates, rows, gzip }: PreparedRelease): Dataset {
  const composers = gzip && ofEachForm((form) => gzipComposer(ROW_FORMATS[form].head, rows[form], gzip[form]))

  function rangeOf({ start_date, end_date }: Window): [from: number, to: number] {
    return [countBefore(dates, (date) => date < start_date), countBefore(dates, (date) => date <= end_date)]
  }

  function tailOf({ start_date, end_date }: Window, form: Form): Buffer {
    if (form !== 'json') return NOTHING
    const meta: RankingMeta = { as_of: manifest.as_of, start_date, end_date, version: DATASET_VERSION }
    return Buffer.from(`],"meta":${JSON.stringify(meta)}}`)
  }

  return {
    manifest,
    bytes: FORMS.reduce((sum, form) => sum + rows[form].bytes.length + (gzip ? bytesOf(gzip[form]) : 0), 0),
    hasGzip: composers !== undefined,
    answer(window, form, coding = 'identity') {
      const [from, to] = rangeOf(window)
      const tail = tailOf(window, form)
      if (coding === 'gzip' && composers !== undefined) return answerOf(composers[form].compose(from, to, tail))
      return answerOf([ROW_FORMATS[form].head, rowsBetween(rows[form], from, to), tail])
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

function ofEachForm<T>(make: (form: Form) => T): Record<Form, T> {
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
