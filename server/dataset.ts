import type { Manifest } from '../pipeline/contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta, type RankingRow } from '../pipeline/contract/ranking.ts'
import type { Window } from '../pipeline/contract/window.ts'
import type { Release } from './release.ts'

/** The body of an answer in pieces that lie in memory already; `bytes` is their length together. */
export interface Answer {
  pieces: Buffer[]
  bytes: number
}

/** A release, prepared for answering. It never changes: a new release is a new `Dataset`, an answer uses one of them. */
export interface Dataset {
  readonly manifest: Manifest
  /** The body for a resolved window: `{"data":[…],"meta":{…}}`. */
  answer(window: Window): Answer
}

const HEAD = Buffer.from('{"data":[')

/**
 * Serialises the rows once. They lie in one buffer ordered by date, each after a comma, so that the rows of any window
 * are one slice of it, without the first comma and without copying.
 */
export function prepareDataset({ manifest, rows }: Release): Dataset {
  const { dates, offsets, buffer } = serialiseByDate(rows)

  function rowsOf(window: Window): Buffer {
    const from = countBefore(dates, (date) => date < window.start_date)
    const to = countBefore(dates, (date) => date <= window.end_date)
    return from === to ? Buffer.alloc(0) : buffer.subarray((offsets[from] ?? 0) + 1, offsets[to])
  }

  return {
    manifest,
    answer(window) {
      const meta: RankingMeta = { as_of: manifest.as_of, ...window, version: DATASET_VERSION }
      const pieces = [HEAD, rowsOf(window), Buffer.from(`],"meta":${JSON.stringify(meta)}}`)]
      return { pieces, bytes: pieces.reduce((sum, piece) => sum + piece.length, 0) }
    },
  }
}

/** `offsets[i]` is where the rows of `dates[i]` begin in `buffer`; one more offset marks its end. */
function serialiseByDate(rows: RankingRow[]): { dates: string[]; offsets: number[]; buffer: Buffer } {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  const pieces = [...byDate.values()].map((rowsOfDate) => Buffer.from(rowsOfDate.map(serialise).join('')))
  const offsets = [0]
  for (const piece of pieces) offsets.push((offsets.at(-1) ?? 0) + piece.length)
  return { dates: [...byDate.keys()], offsets, buffer: Buffer.concat(pieces) }
}

function serialise({ date, model_permaslug, total_tokens }: RankingRow): string {
  return `,${JSON.stringify({ date, model_permaslug, total_tokens })}`
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
