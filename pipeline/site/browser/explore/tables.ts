import type { Grain } from '../../chart/calendar.ts'
import type { ChartRow } from '../../chart/rows.ts'
import { readHistory, readRows } from './parquet.ts'

/** A table of the release, as the page lists it. */
export interface TableFile {
  /** What the history calls it. */
  table: string
  parquet: string
  /** From which date on its rows may still change. */
  provisional_from: string
}

/** The tables of a release by what a row sums. The page lists the daily one, and the others if the release has them. */
export type TableFiles = Partial<Record<Grain, TableFile>>

/** The release is no longer published. */
export class GoneError extends Error {}

const GONE = [404, 410]

/**
 * Reads each table once, when it is first needed: from the history if the file of the release is gone. After an error it is
 * read again.
 */
export function tables(files: TableFiles, { release, history }: { release: string; history: string }) {
  const read = new Map<Grain, readonly ChartRow[]>()
  const underWay = new Set<Grain>()

  async function fetchRows(grain: Grain): Promise<void> {
    const { parquet = '', table = '' } = files[grain] ?? {}
    underWay.add(grain)
    try {
      const file = await fetchIfAny(parquet)
      read.set(grain, file ? await readRows(file, { hasDays: grain !== 'day' }) : await fetchDropped(table))
    } finally {
      underWay.delete(grain)
    }
  }

  async function fetchDropped(table: string): Promise<ChartRow[]> {
    const file = await fetchIfAny(history)
    const rows = file && (await readHistory(file, { release, table }))
    if (rows === undefined) throw new GoneError()
    return rows
  }

  return {
    rows: (grain: Grain): readonly ChartRow[] | undefined => read.get(grain),
    provisionalFrom: (grain: Grain): string | undefined => files[grain]?.provisional_from,
    /** Undefined if the table is being read already. */
    load: (grain: Grain): Promise<void> | undefined => (underWay.has(grain) ? undefined : fetchRows(grain)),
  }
}

/** Undefined if the file is gone. */
async function fetchIfAny(path: string): Promise<ArrayBuffer | undefined> {
  const answer = await fetch(path)
  if (GONE.includes(answer.status)) return undefined
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
  return answer.arrayBuffer()
}

export type Tables = ReturnType<typeof tables>
