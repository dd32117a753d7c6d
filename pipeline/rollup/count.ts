import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { recordPaths } from '../raw/files/columns.ts'
import { type GroupedFile, type InputGroup, regroup } from '../raw/files/group.ts'
import type { LinkedFile } from '../raw/files/link.ts'
import { defineGroups, defineUsage } from '../raw/ingest.ts'
import { ownPlaces } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'
import { isOfSums } from '../raw/sources.ts'
import type { RollupRequest } from './engine.ts'
import type { KnownFile } from './state.ts'
import { Sums, type SumsOptions } from './sums.ts'

/** A batch is full when it has so many bytes in so many files. DuckDB's progress within a batch is rough. */
const BATCH = { bytes: 128_000_000, files: 4 }
/** DuckDB keeps what it knows of each file of a statement: a few kilobytes for each. */
const MOST_FILES = 1000

/** Reads new files and sums them into the table `core_sums`. */
export async function countRecords(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  { request, room }: { request: Pick<RollupRequest, 'onProgress'>; room: SumsOptions },
): Promise<void> {
  const sums = await Sums.create(database, room)
  const files = groups.flatMap((group) => group.files.map((file) => ({ group, file })))
  const bytes = bytesOf(files.map(({ file }) => file))
  let done = 0
  const report = (more: number) =>
    request.onProgress({ stage: `read ${source.name}`, share: (done + more) / bytes, bytes })
  for (const batch of batches(files)) {
    const size = bytesOf(batch.map(({ file }) => file))
    await countBatch(database, source, regroup(batch), (share) => report(share * size))
    if (!isOfSums(source)) await sums.makeRoom()
    done += size
    report(0)
  }
  if (groups.some((group) => group.format === 'csv')) await verifyAllRead(database, groups)
  if (isOfSums(source)) await database.run('count/weigh')
}

async function countBatch(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  report: (share: number) => void,
): Promise<void> {
  await (isOfSums(source) ? defineUsage : defineGroups)(database, source, groups)
  await database.script('count/forget_malformed')
  await database.run('count/create_read_files')
  const rows = groups.flatMap(({ files }, group) => files.map(({ link }, index) => [`${group}`, `${index}`, link]))
  await database.append('core_read_files', rows)
  await database.runWithProgress(isOfSums(source) ? 'count/sums_of_rollup' : 'count/sums', {}, report)
  if (groups.some((group) => group.format === 'csv')) await database.run('count/malformed')
}

function batches(files: readonly GroupedFile[]): GroupedFile[][] {
  const result: GroupedFile[][] = []
  let bytes = 0
  for (const file of files) {
    const current = result.at(-1)
    const isFull = current !== undefined && current.length >= BATCH.files && bytes >= BATCH.bytes
    if (current === undefined || isFull || current.length >= MOST_FILES) {
      result.push([file])
      bytes = file.file.bytes
    } else {
      current.push(file)
      bytes += file.file.bytes
    }
  }
  return result
}

function bytesOf(files: readonly Pick<LinkedFile, 'bytes'>[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

const FILE_NOTES = [
  ['cut_line', 'isCut'],
  ['more_pages', 'hasMorePages'],
] as const

/** Stores the sums of `countRecords` in the state. `numbers` are the state's file numbers by name. */
export async function keepCounts(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  await database.run('count/create_file_numbers')
  const files = groups.flatMap((group) => group.files)
  await database.append(
    'core_file_numbers',
    files.map(({ name, link }) => [link, `${numbers.get(name)}`]),
  )
  await database.run('count/create_contributor_ids')
  await database.run('count/keep_sums')
  await database.run('count/keep_notes')
  const paths = ownPlaces(source).map(({ text }) => text)
  if (paths.length > 0) await database.run('count/keep_absent_paths', { paths })
  const pages = groups.filter(({ lists }) => lists.length > 0).flatMap((group) => group.files)
  for (const [kind, has] of FILE_NOTES) {
    const links = pages.filter(({ lines }) => lines?.[has] === true).map(({ link }) => link)
    if (links.length > 0) await database.run('count/keep_file_notes', { kind, links })
  }
}

/** Sums have no ids: with kept missing files, new ones must have other days. Throws `BuildError` that names both. */
export async function checkNotRestated(database: Database, missing: readonly KnownFile[]): Promise<void> {
  if (missing.length === 0) return
  const file_ids = missing.map((file) => `${file.file_id}`)
  const [restated] = await database.rows<{ file: string; is_kept: boolean; date: string }>('count/restated', {
    file_ids,
  })
  if (restated === undefined) return
  const { file, is_kept, date } = restated
  const other = is_kept ? '' : '; or set "on_missing": "remove" to count only existing files'
  throw new BuildError(
    `${file} is missing${is_kept ? ' and its rows are kept' : ''}, and new files also have rows of ${date}, which would count twice. ` +
      `Write a restated day under its previous name, ${file}${other}`,
  )
}

/** DuckDB must find as many records in a CSV file as our own scan. A misread quote shows here. */
async function verifyAllRead(database: Database, groups: readonly InputGroup[]): Promise<void> {
  const counts = await database.rows<{ link: string; records: bigint }>('count/records_by_file')
  const read = new Map(counts.map(({ link, records }) => [link, records]))
  for (const { name, link, csvRecords } of groups.flatMap(({ files }) => files)) {
    const records = read.get(link) ?? 0n
    if (csvRecords === undefined || records === BigInt(csvRecords)) continue
    throw new BuildError(
      `${name} cannot be read whole: it has ${counted(csvRecords, 'record')}, but DuckDB finds ${records}; a quote is misplaced, or ` +
        'the file changed meanwhile',
    )
  }
}

/** NDJSON has no header, so only the records show that a key is missing. A misspelled key would count as 0. */
export async function checkCountsPresent(
  database: Database,
  source: Source,
  request: Pick<RollupRequest, 'onNotice'>,
): Promise<void> {
  const [present] =
    await database.rows<Record<'prompt_tokens' | 'completion_tokens', boolean | null>>('count/counts_present')
  const missing = (['prompt_tokens', 'completion_tokens'] as const).filter((column) => present?.[column] === false)
  if (missing.length === 0) return
  const names = recordPaths(source, missing)
    .map((name) => JSON.stringify(name))
    .join(' or ')
  const message = `source ${JSON.stringify(source.name)}: no record has ${names}`
  if (missing.length === 2 || missing.some((column) => source.columns[column] !== undefined)) {
    throw new BuildError(`${message}; map what schema ${source.schema} needs to the columns of the files in "columns"`)
  }
  request.onNotice(`${message}, which counts as 0`)
}
