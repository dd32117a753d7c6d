import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { counted } from '../base/numbers.ts'
import { type GroupedFile, regroup } from '../raw/files/group.ts'
import { defineUsage } from '../raw/ingest.ts'
import type { Source } from '../raw/sources.ts'
import type { RollupRequest } from './engine.ts'
import { IDS_PER_SUM, RECORDS_PER_BATCH } from './surplus-sizes.ts'

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

/** The days to compare, in order, and the files that have records with a `request_id` on them. */
export async function daysToCompare(database: Database): Promise<IdentifiedDay[]> {
  return database.rows<IdentifiedDay>('surplus/identified_days')
}

/** Some days, and the files that have records of them. */
interface Batch {
  first_day: bigint
  last_day: bigint
  records: bigint
  files: Set<number>
}

export interface SurplusOptions {
  database: Database
  /** Files in this folder are overwritten. */
  scratchFolder: string
  request: Pick<RollupRequest, 'onProgress' | 'onStage'>
}

/** Finds duplicates on `days` and replaces the surplus of the touched days in the state (DESIGN.md §6.7). */
export async function findSurplus(
  source: Source,
  days: readonly IdentifiedDay[],
  places: ReadonlyMap<number, RecordsPlace>,
  { database, scratchFolder, request }: SurplusOptions,
): Promise<void> {
  await database.run('surplus/forget')
  await database.run('surplus/create_kept')
  const stage = `find duplicates of ${source.name}`
  const scratch = (name: string) => join(scratchFolder, `${name}.parquet`)
  const sums: string[] = []
  let pending: Repeated[] = []
  const sum = async () => {
    const path = scratch(`surplus-${sums.length}`)
    await sumSurplus(source, pending, places, { database, candidates: scratch('candidates'), path })
    sums.push(path)
    pending = []
  }
  const work = batches(days)
  for (const [position, batch] of work.entries()) {
    const report = (share: number) =>
      request.onProgress({ stage, share: (position + share) / work.length, bytes: undefined })
    const path = scratch(`repeated-ids-${pending.length}`)
    await defineRecordsOf(database, source, await readKept(database, batch, places), IDS)
    const range = { first_day: batch.first_day, last_day: batch.last_day }
    await database.runWithProgress('surplus/find_ids', { ...range, path }, report)
    const [counts] = await database.rows<{ ids: bigint }>('surplus/count_ids', { path })
    if (counts === undefined || counts.ids === 0n) continue
    pending.push({ batch, path, ids: counts.ids })
    if (pending.reduce((found, { ids }) => found + ids, 0n) >= IDS_PER_SUM) await sum()
  }
  if (pending.length > 0) await sum()
  if (sums.length > 0) await database.run('surplus/keep', { paths: sums })
  if (work.length === 0) return
  const count = new Set(days.map((day) => day.day_number)).size
  request.onStage({ stage, detail: `${counted(count, 'day')} compared` })
}

/** The ids that occur twice in a batch: how many they are, and the file that has their hashes. */
interface Repeated {
  batch: Batch
  path: string
  ids: bigint
}

/** Writes what the copies with repeated ids of several batches counted too much into the file `path`. */
async function sumSurplus(
  source: Source,
  repeated: readonly Repeated[],
  places: ReadonlyMap<number, RecordsPlace>,
  { database, candidates, path }: { database: Database; candidates: string; path: string },
): Promise<void> {
  const batch = joined(repeated.map((each) => each.batch))
  await defineRecordsOf(database, source, await readKept(database, batch, places), RECORDS)
  const range = { first_day: batch.first_day, last_day: batch.last_day }
  const ids = repeated.map((each) => each.path)
  await database.run('surplus/find_candidates', { ...range, ids, path: candidates })
  await database.run('surplus/sum', { candidates, path })
}

/** A day is in one batch. */
function batches(days: readonly IdentifiedDay[]): Batch[] {
  const result: Batch[] = []
  for (const [day_number, ofDay] of Map.groupBy(days, (day) => day.day_number)) {
    const records = ofDay.reduce((sum, day) => sum + day.records, 0n)
    const files = ofDay.map((day) => day.file_id)
    const current = result.at(-1)
    const isShared = files.some((file) => current?.files.has(file))
    const limit = RECORDS_PER_BATCH[isShared ? 'ofSharedFiles' : 'usual']
    if (current === undefined || current.records + records > limit) {
      result.push({ first_day: day_number, last_day: day_number, records, files: new Set(files) })
    } else {
      current.last_day = day_number
      current.records += records
      for (const file of files) current.files.add(file)
    }
  }
  return result
}

/** Batches that follow one another, as one. */
function joined(all: readonly Batch[]): Batch {
  return {
    first_day: all.at(0)?.first_day ?? 0n,
    last_day: all.at(-1)?.last_day ?? 0n,
    records: all.reduce((sum, batch) => sum + batch.records, 0n),
    files: new Set(all.flatMap((batch) => [...batch.files])),
  }
}

/** Reads the records of missing files into `core_kept_usage`, and returns the files of the batch that are at hand. */
async function readKept(
  database: Database,
  { files, first_day, last_day }: Batch,
  places: ReadonlyMap<number, RecordsPlace>,
): Promise<GroupedFile[]> {
  const wanted = [...files].flatMap((id) => places.get(id) ?? [])
  const paths = wanted.flatMap((place) => ('kept' in place ? [place.kept] : []))
  // Records of an earlier batch may stay: they are of other days.
  if (paths.length > 0) {
    await database.run('surplus/create_kept')
    await database.run('surplus/read_kept', { paths, first_day, last_day })
  }
  return wanted.flatMap((place) => ('kept' in place ? [] : [place]))
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
