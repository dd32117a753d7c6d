import type { Database } from '../base/database.ts'
import { counted } from '../base/numbers.ts'
import { type GroupedFile, regroup } from '../raw/files/group.ts'
import { defineUsage } from '../raw/ingest.ts'
import type { Source } from '../raw/sources.ts'
import type { RollupRequest } from './engine.ts'

/** Days are compared in batches of about this many records, which limits memory. */
const RECORDS_PER_BATCH = 1_000_000

export interface IdentifiedDay extends Record<string, bigint | number> {
  day_number: bigint
  file_id: number
  records: bigint
}

/** The statements that define a view over files and stored records, or over stored records alone. */
interface View {
  all: string
  kept: string
}

// Apart, because DuckDB plans all that reads the files for each view that is defined, needed or not.
const IDS: View = { all: 'surplus/ids', kept: 'surplus/kept_ids' }
const RECORDS: View = { all: 'surplus/identified_usage', kept: 'surplus/identified_kept' }

export type RecordsPlace = GroupedFile | { kept: string }

/** The days to compare and the files that have records with a `request_id` on them. */
export async function daysToCompare(database: Database): Promise<IdentifiedDay[]> {
  return database.rows<IdentifiedDay>('surplus/identified_days')
}

/** Finds duplicates on `days` and replaces the surplus of the touched days in the state (DESIGN.md §6.7). */
export async function findSurplus(
  database: Database,
  source: Source,
  days: readonly IdentifiedDay[],
  places: ReadonlyMap<number, RecordsPlace>,
  request: Pick<RollupRequest, 'onProgress' | 'onStage'>,
): Promise<void> {
  await database.run('surplus/forget')
  const stage = `find duplicates of ${source.name}`
  const work = batches(days)
  for (const [position, batch] of work.entries()) {
    const report = (share: number) =>
      request.onProgress({ stage, share: (position + share) / work.length, bytes: undefined })
    const range = { first_day: batch.at(0)?.day_number ?? 0n, last_day: batch.at(-1)?.day_number ?? 0n }
    await defineBatch(database, source, batch, places, range, IDS)
    await database.runWithProgress('surplus/find_ids', range, report)
    const withDuplicates = await daysWithDuplicates(database, batch)
    if (withDuplicates.length === 0) continue
    await defineBatch(database, source, withDuplicates, places, range, RECORDS)
    await database.run('surplus/add')
  }
  if (work.length === 0) return
  const count = new Set(days.map((day) => day.day_number)).size
  request.onStage({ stage, detail: `${counted(count, 'day')} compared` })
}

async function daysWithDuplicates(database: Database, batch: readonly IdentifiedDay[]): Promise<IdentifiedDay[]> {
  const rows = await database.rows<{ day_number: bigint }>('surplus/days')
  const withDuplicates = new Set(rows.map((row) => row.day_number))
  return batch.filter((day) => withDuplicates.has(day.day_number))
}

function batches(days: readonly IdentifiedDay[]): IdentifiedDay[][] {
  const result: IdentifiedDay[][] = []
  let records = 0n
  for (const day of days) {
    const current = result.at(-1)
    const isSameDay = current?.at(-1)?.day_number === day.day_number
    if (current !== undefined && (isSameDay || records + day.records <= RECORDS_PER_BATCH)) {
      current.push(day)
      records += day.records
    } else {
      result.push([day])
      records = day.records
    }
  }
  return result
}

async function defineBatch(
  database: Database,
  source: Source,
  batch: readonly IdentifiedDay[],
  places: ReadonlyMap<number, RecordsPlace>,
  range: { first_day: bigint; last_day: bigint },
  view: View,
): Promise<void> {
  const wanted = [...new Set(batch.map((day) => day.file_id))].flatMap((id) => places.get(id) ?? [])
  const paths = wanted.flatMap((place) => ('kept' in place ? [place.kept] : []))
  await database.run('surplus/create_kept')
  if (paths.length > 0) await database.run('surplus/read_kept', { paths, ...range })
  const atHand = wanted.flatMap((place) => ('kept' in place ? [] : [place]))
  await defineRecordsOf(database, source, atHand, view)
}

/** Defines the view `core_identified_usage`, or with `IDS` the view `core_ids`, over existing files and stored records. */
export async function defineRecordsOf(
  database: Database,
  source: Source,
  places: readonly GroupedFile[],
  view: View = RECORDS,
): Promise<void> {
  const groups = regroup(places)
  if (groups.length === 0) return database.run(view.kept)
  await defineUsage(database, source, groups)
  await database.run(view.all)
}
