import { setImmediate as nextTurn } from 'node:timers/promises'
import { CANONICAL_CSV_HEADER, canonicalCsvRow } from '../pipeline/contract/canonical-csv.ts'
import type { Manifest } from '../pipeline/contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta, type RankingRow, rowJson } from '../pipeline/contract/ranking.ts'
import type { Window } from '../pipeline/contract/window.ts'
import { FORMS, type Form } from './forms.ts'
import type { Release } from './release.ts'

/** The body of an answer in pieces that lie in memory already; `bytes` is their length together. */
export interface Answer {
  pieces: Buffer[]
  bytes: number
}

/** A release, prepared for answering. It never changes: a new release is a new `Dataset`, an answer uses one of them. */
export interface Dataset {
  readonly manifest: Manifest
  /** What its rows take in memory, in all forms together. */
  readonly bytes: number
  /** The body for a resolved window: `{"data":[…],"meta":{…}}`, the canonical CSV with its header, or a row a line. */
  answer(window: Window, form: Form): Answer
}

const JSON_HEAD = Buffer.from('{"data":[')
const CSV_HEAD = Buffer.from(CANONICAL_CSV_HEADER)
const NOTHING = Buffer.alloc(0)
const DATES_BETWEEN_PAUSES = 10

const SERIALISE: Record<Form, (row: RankingRow) => string> = {
  // After a comma, which the rows of a window are without when the first one is left out.
  json: (row) => `,${rowJson(row)}`,
  csv: canonicalCsvRow,
  ndjson: (row) => `${rowJson(row)}\n`,
}

/** The rows of one form in one buffer, ordered by date; `offsets[i]` is where date `i` begins, the last one its end. */
interface Serialised {
  buffer: Buffer
  offsets: number[]
}

/**
 * Serialises the rows once in every form, so that those of any window are one slice of a buffer, without copying. Makes
 * pauses, as a release is prepared while requests are answered.
 */
export async function prepareDataset({ manifest, rows }: Release): Promise<Dataset> {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  const dates = [...byDate.keys()]
  const pieces: Record<Form, Buffer[]> = { json: [], csv: [], ndjson: [] }
  for (const [position, rowsOfDate] of [...byDate.values()].entries()) {
    for (const form of FORMS) pieces[form].push(Buffer.from(rowsOfDate.map(SERIALISE[form]).join('')))
    if (position % DATES_BETWEEN_PAUSES === 0) await nextTurn()
  }
  const serialised = { json: join(pieces.json), csv: join(pieces.csv), ndjson: join(pieces.ndjson) }

  function rowsOf({ start_date, end_date }: Window, form: Form): Buffer {
    const { buffer, offsets } = serialised[form]
    const from = countBefore(dates, (date) => date < start_date)
    const to = countBefore(dates, (date) => date <= end_date)
    return from === to ? NOTHING : buffer.subarray(offsets[from], offsets[to])
  }

  function piecesOf(window: Window, form: Form): Buffer[] {
    const slice = rowsOf(window, form)
    if (form === 'csv') return [CSV_HEAD, slice]
    if (form === 'ndjson') return [slice]
    const meta: RankingMeta = { as_of: manifest.as_of, ...window, version: DATASET_VERSION }
    return [JSON_HEAD, slice.subarray(1), Buffer.from(`],"meta":${JSON.stringify(meta)}}`)]
  }

  return {
    manifest,
    bytes: FORMS.reduce((sum, form) => sum + serialised[form].buffer.length, 0),
    answer(window, form) {
      const found = piecesOf(window, form)
      return { pieces: found, bytes: found.reduce((sum, piece) => sum + piece.length, 0) }
    },
  }
}

function join(pieces: Buffer[]): Serialised {
  const offsets = [0]
  for (const piece of pieces) offsets.push((offsets.at(-1) ?? 0) + piece.length)
  return { buffer: Buffer.concat(pieces), offsets }
}

/** How many of the sorted `dates` fulfil `isBefore`, which all do up to some date and none after it. */
function countBefore(dates: string[], isBefore: (date: string) => boolean): number {
  let [low, high] = [0, dates.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(dates[middle] ?? '')) low = middle + 1
    else high = middle
  }
  return low
}
