import type { Grain } from './calendar.ts'
import { readRows } from './parquet.ts'
import type { Row } from './row.ts'

/** A table of the release, as the page lists it. */
export interface TableFile {
  parquet: string
  /** From which date on its rows may still change. */
  provisional_from: string
}

/** The tables of a release by what a row sums. The page lists the daily one, and the others if the release has them. */
export type TableFiles = Partial<Record<Grain, TableFile>>

/** The release is no longer published. */
export class GoneError extends Error {}

const GONE = [404, 410]

/** Reads each table once, when it is first needed. After an error it is read again. */
export function tables(files: TableFiles) {
  const read = new Map<Grain, readonly Row[]>()
  const underWay = new Set<Grain>()

  async function fetchRows(grain: Grain): Promise<void> {
    const { parquet = '' } = files[grain] ?? {}
    underWay.add(grain)
    try {
      const answer = await fetch(parquet)
      if (GONE.includes(answer.status)) throw new GoneError()
      if (!answer.ok) throw new Error(`${parquet} was answered with ${answer.status}`)
      read.set(grain, await readRows(await answer.arrayBuffer(), { hasDays: grain !== 'day' }))
    } finally {
      underWay.delete(grain)
    }
  }

  return {
    rows: (grain: Grain): readonly Row[] | undefined => read.get(grain),
    provisionalFrom: (grain: Grain): string | undefined => files[grain]?.provisional_from,
    /** Undefined if the table is being read already. */
    load: (grain: Grain): Promise<void> | undefined => (underWay.has(grain) ? undefined : fetchRows(grain)),
  }
}

export type Tables = ReturnType<typeof tables>
