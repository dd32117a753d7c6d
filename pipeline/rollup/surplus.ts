import { join } from 'node:path'
import type { Database, Numbers } from '../base/database.ts'
import { counted } from '../base/numbers.ts'
import { readStatement } from '../base/statements.ts'
import { type GroupedFile, regroup } from '../raw/files/group.ts'
import { defineRepeatedUsage, defineUsage } from '../raw/ingest.ts'
import { sumsBuckets } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'
import type { RollupRequest } from './engine.ts'
import { writeRepeated } from './repeated-ids.ts'
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
  /** The files that are read for the first time. */
  fresh: ReadonlySet<number>
}

/** All ids of a batch are compared with other sources, or of more than so many some. A day's delivery is rarely more. */
const SAMPLED_IDS = { all: 32_768, some: 8192 }

/** A sample of the ids of new files: rows of `state_sampled_ids`. */
class Sample {
  readonly #fresh: ReadonlySet<number>
  readonly rows = new Map<string, string[]>()

  constructor(fresh: ReadonlySet<number>) {
    this.#fresh = fresh
  }

  /** Takes the ids that come with the number of a file, and passes the hashes on, as often as it is said. */
  async *of(
    pieces: Iterable<Numbers> | AsyncIterable<Numbers>,
    { files, oneIn, times }: { files: ReadonlyMap<number, number>; oneIn: number; times: number },
  ): AsyncIterable<BigUint64Array> {
    for await (const { large, small } of pieces) {
      for (let position = 0; position < small.length; position += 1) {
        if (small[position] === 0) continue
        const file = files.get(small[position] ?? 0)
        if (file === undefined || !this.#fresh.has(file)) continue
        const row = [`${file}`, `${oneIn}`, `${BigInt.asUintN(32, large[position] ?? 0n)}`]
        this.rows.set(row.join(), row)
      }
      for (let time = 0; time < times; time += 1) yield large
    }
  }
}

/** The source whose records are compared, and where they lie. */
interface Compared {
  database: Database
  scratchFolder: string
  source: Source
  places: ReadonlyMap<number, RecordsPlace>
  sample: Sample
}

/** Finds duplicates on `days` and replaces the surplus of the touched days in the state. */
export async function findSurplus(
  source: Source,
  days: readonly IdentifiedDay[],
  places: ReadonlyMap<number, RecordsPlace>,
  { database, scratchFolder, request, fresh }: SurplusOptions,
): Promise<void> {
  await database.run('surplus/forget')
  await database.run('surplus/create_kept')
  const stage = `find duplicates of ${source.name}`
  const work = batches(days)
  const report = (done: number) => request.onProgress({ stage, share: done / work.length, bytes: undefined })
  const sample = new Sample(fresh)
  const paths = await sumBatches({ database, scratchFolder, source, places, sample }, work, report)
  await database.append('state_sampled_ids', [...sample.rows.values()])
  if (sample.rows.size > 0) await database.run('surplus/find_shared', { file_ids: [...fresh].map(String) })
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
  const { database, scratchFolder, source, places, sample } = compared
  const path = join(scratchFolder, name)
  const range = await defineBatch(compared, batch, IDS)
  const isLarge = batch.records > HASHES_IN_MEMORY
  const records = Number(batch.records)
  const one_in = records <= SAMPLED_IDS.all ? 1 : 2 ** Math.ceil(Math.log2(records / SAMPLED_IDS.some))
  const numbers = await database[isLarge ? 'streamNumbers' : 'numbers']('surplus/id_hashes', { ...range, one_in })
  // Of buckets that overlap each is another one, so all of them are candidates.
  const times = sumsBuckets(source) ? 2 : 1
  const hashes = sample.of(numbers, { files: numberedFiles(batch, places), oneIn: one_in, times })
  return { batch, path, ids: await writeRepeated(hashes, records, path) }
}

/** The files of a batch by the numbers that `core_ids` gives them. */
function numberedFiles({ files }: Batch, places: ReadonlyMap<number, RecordsPlace>): Map<number, number> {
  const atHand = [...files.keys()].flatMap((id) => placesAtHand(places.get(id)).map((place) => ({ id, place })))
  const ids = new Map(atHand.map(({ id, place }) => [place.file.link, id]))
  return new Map(
    regroup(atHand.map(({ place }) => place)).flatMap((group, number) =>
      group.files.map(({ link }, index) => [1_000_000 * number + index + 1, ids.get(link) ?? 0] as const),
    ),
  )
}

function placesAtHand(place: RecordsPlace | undefined): GroupedFile[] {
  return place === undefined || 'kept' in place ? [] : [place]
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
  return wanted.flatMap(placesAtHand)
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
