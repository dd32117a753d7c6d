import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { counted } from '../base/numbers.ts'
import { readStatement } from '../base/statements.ts'
import { type GroupedFile, regroup } from '../raw/files/group.ts'
import { defineRepeatedUsage, defineUsage } from '../raw/ingest.ts'
import { sumsBuckets } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'
import type { RollupRequest } from './engine.ts'
import { writeAll, writeRepeated } from './repeated-ids.ts'
import { HASHES_IN_MEMORY, IDS_PER_SUM, RECORDS_PER_BATCH } from './surplus-sizes.ts'

/** The records with a request id that a file has on a day to compare. */
export interface IdentifiedDay extends Record<string, bigint | number> {
  day_number: bigint
  file_id: number
  records: bigint
  /** On all days. */
  file_records: bigint
}

/** How a view over files and stored records is defined, and one over stored records alone. */
interface View {
  defineFiles: typeof defineUsage
  all: string
  kept: string
}

// Apart, because DuckDB plans all that reads the files for each view that is defined, needed or not.
const IDS: View = { defineFiles: defineUsage, all: 'surplus/ids', kept: 'surplus/kept_ids' }
const CANDIDATES: View = {
  defineFiles: defineRepeatedUsage,
  all: 'surplus/candidates',
  kept: 'surplus/kept_candidates',
}
const RECORDS: View = {
  defineFiles: defineUsage,
  all: 'surplus/identified_usage',
  kept: 'surplus/identified_kept',
}

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
  /** How many records they have on all days. */
  files: Map<number, bigint>
}

export interface SurplusOptions {
  database: Database
  /** Files in this folder are overwritten. */
  scratchFolder: string
  request: Pick<RollupRequest, 'onProgress' | 'onStage'>
}

/** The source whose records are compared, and where they lie. */
interface Compared {
  database: Database
  scratchFolder: string
  source: Source
  places: ReadonlyMap<number, RecordsPlace>
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
  const work = batches(days)
  const report = (done: number) => request.onProgress({ stage, share: done / work.length, bytes: undefined })
  const paths = await sumBatches({ database, scratchFolder, source, places }, work, report)
  if (paths.length > 0) await database.run('surplus/keep', { paths })
  if (work.length === 0) return
  const count = new Set(days.map((day) => day.day_number)).size
  request.onStage({ stage, detail: `${counted(count, 'day')} compared` })
}

/** Writes what duplicates counted too much into files, each of several batches, and returns their paths. */
async function sumBatches(
  compared: Compared,
  work: readonly Batch[],
  report: (done: number) => void,
): Promise<string[]> {
  const sums: string[] = []
  let pending: Repeated[] = []
  const sum = async () => {
    const path = join(compared.scratchFolder, `surplus-${sums.length}.parquet`)
    await sumSurplus(compared, pending, path)
    sums.push(path)
    pending = []
  }
  for (const [position, batch] of work.entries()) {
    const repeated = await findRepeated(compared, batch, `repeated-ids-${pending.length}.csv`)
    report(position + 1)
    if (repeated.ids === 0) continue
    pending.push(repeated)
    if (pending.reduce((found, { ids }) => found + ids, 0) >= IDS_PER_SUM) await sum()
  }
  if (pending.length > 0) await sum()
  return sums
}

/** The ids that occur twice in a batch: how many they are, and the file that has their hashes. */
interface Repeated {
  batch: Batch
  path: string
  ids: number
}

async function findRepeated(compared: Compared, batch: Batch, name: string): Promise<Repeated> {
  const { database, scratchFolder, source } = compared
  const path = join(scratchFolder, name)
  const range = await defineBatch(compared, batch, IDS)
  const isLarge = batch.records > HASHES_IN_MEMORY
  const hashes = await database[isLarge ? 'streamNumbers' : 'numbers']('surplus/id_hashes', range)
  const ids = sumsBuckets(source)
    ? await writeAll(hashes, path)
    : await writeRepeated(hashes, Number(batch.records), path)
  return { batch, path, ids }
}

/** Writes what the copies with repeated ids of several batches counted too much into the file `path`. */
async function sumSurplus(compared: Compared, repeated: readonly Repeated[], path: string): Promise<void> {
  const { database, scratchFolder, source } = compared
  await database.setVariable(
    'repeated_ids',
    repeated.map((each) => each.path),
  )
  await database.run('surplus/repeated_ids')
  const candidates = join(scratchFolder, 'candidates.parquet')
  const range = await defineBatch(compared, joined(repeated.map(({ batch }) => batch)), CANDIDATES)
  await database.run('surplus/find_candidates', { ...range, path: candidates })
  await database.run('surplus/create_overlapping')
  if (sumsBuckets(source)) await database.run('surplus/find_overlapping', { candidates })
  await database.run('surplus/sum', { candidates, path })
}

/** Defines a view over the records of a batch, and returns the days that are wanted of them. */
async function defineBatch({ database, source, places }: Compared, batch: Batch, view: View) {
  await defineRecordsOf(database, source, await readKept(database, batch, places), view)
  const inFiles = [...batch.files.values()].reduce((sum, records) => sum + records, 0n)
  await database.setVariable('reads_whole_files', inFiles === batch.records)
  return { first_day: batch.first_day, last_day: batch.last_day }
}

/** A day is in one batch. */
function batches(days: readonly IdentifiedDay[]): Batch[] {
  const result: Batch[] = []
  for (const [day_number, ofDay] of Map.groupBy(days, (day) => day.day_number)) {
    const records = ofDay.reduce((sum, day) => sum + day.records, 0n)
    const current = result.at(-1)
    const isShared = ofDay.some(({ file_id }) => current?.files.has(file_id))
    const limit = RECORDS_PER_BATCH[isShared ? 'ofSharedFiles' : 'usual']
    if (current === undefined || current.records + records > limit) {
      const files = new Map(ofDay.map((day) => [day.file_id, day.file_records]))
      result.push({ first_day: day_number, last_day: day_number, records, files })
    } else {
      current.last_day = day_number
      current.records += records
      for (const { file_id, file_records } of ofDay) current.files.set(file_id, file_records)
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
    files: new Map(all.flatMap((batch) => [...batch.files])),
  }
}

/** Reads the records of missing files into `core_kept_usage`, and returns the files of the batch that are at hand. */
async function readKept(
  database: Database,
  { files, first_day, last_day }: Batch,
  places: ReadonlyMap<number, RecordsPlace>,
): Promise<GroupedFile[]> {
  const wanted = [...files.keys()].flatMap((id) => places.get(id) ?? [])
  const paths = wanted.flatMap((place) => ('kept' in place ? [place.kept] : []))
  // Records of an earlier batch may stay: they are of other days.
  if (paths.length > 0) {
    await database.run('surplus/create_kept')
    await database.run('surplus/read_kept', { paths, first_day, last_day })
  }
  return wanted.flatMap((place) => ('kept' in place ? [] : [place]))
}

/** Defines the view `core_identified_usage`, or another one, over existing files and stored records. */
export async function defineRecordsOf(
  database: Database,
  source: Source,
  places: readonly GroupedFile[],
  view: View = RECORDS,
): Promise<void> {
  const groups = regroup(places)
  const definition = groups.length === 0 ? view.kept : view.all
  if (groups.length > 0) await view.defineFiles(database, source, groups)
  await database.define(
    view.all,
    readStatement(definition),
    groups.map(({ types }) => types),
  )
}
