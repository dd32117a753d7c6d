import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import type { Files } from '../files.ts'
import { defineUsage } from '../ingest.ts'
import { fileColumn } from '../inputs/columns.ts'
import { assertWhole } from '../inputs/decompress.ts'
import { findInputFiles, type InputFile } from '../inputs/find.ts'
import { groupFiles, type InputGroup, type LinkedFile } from '../inputs/group.ts'
import { linkFiles } from '../inputs/link.ts'
import { slugProblem } from '../slug.ts'
import type { Source, Sources } from '../sources.ts'
import type { KeyUsageRow, RejectReason, RollupEngine, RollupRequest, RollupRow, SetAsideReason } from './engine.ts'

/** De-duplication takes as many days at once as hold about this many records: it bounds the memory. */
const RECORDS_PER_BATCH = 4_000_000

/** Files that are checked side by side; Node decompresses each on a thread of its own. */
const FILES_AT_ONCE = 4

export interface DuckDbEngineOptions {
  database: Database
  /** An empty folder of this engine's own, for links to the raw files. */
  linkFolder: string
  files: Files
  signal: AbortSignal
}

/** The embedded engine: DuckDB reads the raw files where they lie, once, and once more the days with repeated ids. */
export function createDuckDbEngine(options: DuckDbEngineOptions): RollupEngine {
  return {
    async *rollup(request) {
      for (const source of request.sources.sources) yield* rollupSource(source, request, options)
    },
  }
}

async function* rollupSource(
  source: Source,
  request: RollupRequest,
  { database, linkFolder, files, signal }: DuckDbEngineOptions,
): AsyncIterable<RollupRow> {
  const { files: found, unmatched } = await findInputFiles(source, request.sources.folder)
  for (const pattern of unmatched) {
    request.onNotice(`source ${JSON.stringify(source.name)}: no file matches ${pattern}`)
  }
  await checkFiles(found, signal)
  const folder = `${linkFolder}/${request.sources.sources.indexOf(source)}`
  await files.makeFolder(folder)
  const groups = await groupFiles(database, source, await linkFiles(found, folder))
  if (groups.length === 0) return
  try {
    await countGroups(database, source, groups, request)
    await reportMalformedCsv(database, source, groups, request)
    await resolveModels(database, source, request.sources)
    await countSurplus(database, source, groups, request)
  } catch (error) {
    throw naming(error, source, groups)
  }
  await reportRejectedFiles(database, source, groups, request)
  await reportKeyUsage(database, source, request)
  yield* result(database, source, request)
}

async function checkFiles(files: readonly InputFile[], signal: AbortSignal): Promise<void> {
  const waiting = [...files]
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await assertWhole(file, signal)
  }
  try {
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker))
  } finally {
    waiting.length = 0
  }
}

async function countGroups(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  request: RollupRequest,
): Promise<void> {
  await defineUsage(database, source, groups)
  await database.script('rollup_forget_malformed')
  const bytes = groups.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0)
  const stage = `read ${source.name}`
  await database.runWithProgress('rollup_groups', {}, (share) => request.onProgress({ stage, share, bytes }))
  await database.run('usage_by_file')
  const [read] = await database.rows<{ records: bigint }>('rollup_read')
  request.onStage({ stage, detail: `${read?.records} records in ${groups.flatMap(({ files }) => files).length} files` })
  await assertCountsPresent(database, source, request)
}

/** NDJSON has no header, so a key that no line has shows only here; it may be a misspelt one, and would count as 0. */
async function assertCountsPresent(database: Database, source: Source, request: RollupRequest): Promise<void> {
  const [present] =
    await database.rows<Record<'prompt_tokens' | 'completion_tokens', boolean | null>>('rollup_counts_present')
  const missing = (['prompt_tokens', 'completion_tokens'] as const).filter((column) => present?.[column] === false)
  if (missing.length === 0) return
  const names = missing.map((column) => JSON.stringify(fileColumn(source, column))).join(' nor ')
  const message = `source ${JSON.stringify(source.name)}: no record has ${names}`
  if (missing.length === 2 || missing.some((column) => source.columns[column] !== undefined)) {
    throw new BuildError(`${message}; say in "columns" how the files call ${missing.join(' and ')}`)
  }
  request.onNotice(`${message}, which counts as 0`)
}

/** Asks the registry once for each model name of the source: names are few, records are many. */
async function resolveModels(database: Database, source: Source, { registry }: Sources): Promise<void> {
  const names = await database.rows<{ model: string }>('rollup_models')
  await database.run('rollup_create_models')
  const rows = names.map(({ model }) => {
    const slug = registry.resolve(model)
    const visibility = source.visibility === 'registry' ? registry.visibility(slug) : source.visibility
    const isValid = slugProblem(model) === undefined && slugProblem(slug) === undefined
    return [model, slug, visibility, String(isValid)]
  })
  await database.append('core_models', rows)
}

async function countSurplus(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  request: RollupRequest,
): Promise<void> {
  await database.run('rollup_create_surplus')
  const days = await database.rows<IdentifiedDay>('rollup_identified_days')
  const stage = `find repeated records of ${source.name}`
  const work = batches(days)
  for (const [position, batch] of work.entries()) {
    await defineUsage(database, source, filesOf(groups, batch))
    const range = { first_day: batch.at(0)?.day_number ?? 0n, last_day: batch.at(-1)?.day_number ?? 0n }
    await database.runWithProgress('rollup_surplus', range, (share) =>
      request.onProgress({ stage, share: (position + share) / work.length, bytes: undefined }),
    )
  }
  const [conflicts] = await database.rows<{ records: bigint }>('rollup_conflicts')
  if (conflicts !== undefined && conflicts.records > 0n) {
    request.onNotice(
      `source ${JSON.stringify(source.name)}: ${conflicts.records} repeated records differ from the copy that was kept`,
    )
  }
}

interface IdentifiedDay extends Record<string, bigint | number> {
  day_number: bigint
  input_group: number
  file_index: number
  records: bigint
}

/** Consecutive days whose records together stay within a batch; a day is never split. */
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

/** The groups cut down to the files that hold rows of a batch. */
function filesOf(groups: readonly InputGroup[], batch: readonly IdentifiedDay[]): InputGroup[] {
  const wanted = new Set(batch.map((day) => `${day.input_group}/${day.file_index}`))
  return groups.flatMap((group, number) => {
    const files = group.files.filter((_, index) => wanted.has(`${number}/${index}`))
    return files.length === 0 ? [] : [{ ...group, files }]
  })
}

async function reportRejectedFiles(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  request: RollupRequest,
): Promise<void> {
  const rejected = await database.rows<{
    input_group: number
    file_index: number
    reason: RejectReason
    records: bigint
  }>('rollup_rejected_files')
  for (const { input_group, file_index, reason, records } of rejected) {
    const file = groups[input_group]?.files[file_index]?.name ?? ''
    request.onRejectedInFile({ source: source.name, file, reason, records })
  }
}

/** CSV records without the fields of their header: DuckDB sets them aside before any column of them is known. */
async function reportMalformedCsv(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  request: RollupRequest,
): Promise<void> {
  if (!groups.some((group) => group.format === 'csv')) return
  const names = new Map(groups.flatMap(({ files }) => files.map(({ link, name }) => [link, name] as const)))
  const malformed = await database.rows<{ file_path: string; records: bigint; open_quote: bigint | null }>(
    'rollup_malformed',
  )
  for (const { file_path, records, open_quote } of malformed) {
    const file = names.get(file_path) ?? ''
    if (open_quote !== null) {
      throw new BuildError(`${file} cannot be read whole: the quote that record ${open_quote} opens is never closed`)
    }
    const reason = 'malformed_record'
    request.onRejectedInFile({ source: source.name, file, reason, records })
    request.onSetAside({
      source: source.name,
      reason,
      date: undefined,
      model_permaslug: undefined,
      records,
      tokens: 0n,
    })
  }
}

async function reportKeyUsage(database: Database, source: Source, request: RollupRequest): Promise<void> {
  type Row = Record<'date' | 'api_key_hash' | 'cost_usd', string> &
    Record<'requests' | 'free_requests' | 'misread_charges', bigint> & { is_byok: boolean }
  let misread = 0n
  for (const { misread_charges, ...usage } of await database.rows<Row>('usage_by_key')) {
    misread += misread_charges
    request.onKeyUsage(usage satisfies KeyUsageRow)
  }
  if (misread > 0n) {
    request.onNotice(
      `source ${JSON.stringify(source.name)}: ${misread} records of API keys have a cost_usd or is_byok that is negative ` +
        'or cannot be read; such a cost counts as 0, such an is_byok as false',
    )
  }
}

/** Every record that was read stands in one row of the result: a mistake of this project's own would show here. */
async function assertAccounted(database: Database, rows: readonly { records: string }[]): Promise<void> {
  const [read] = await database.rows<{ records: bigint }>('rollup_read')
  const accounted = rows.reduce((sum, { records }) => sum + BigInt(records), 0n)
  if (read?.records === accounted) return
  throw new BuildError(`${read?.records} records were read but ${accounted} accounted for; nothing was published`)
}

async function* result(database: Database, source: Source, request: RollupRequest): AsyncIterable<RollupRow> {
  const rows = await database.rows<{
    date: string | null
    model_permaslug: string | null
    outcome: SetAsideReason | 'public'
    records: string
    tokens: string
  }>('rollup_result')
  await assertAccounted(database, rows)
  for (const { date, model_permaslug, outcome, records, tokens } of rows) {
    if (outcome !== 'public') {
      request.onSetAside({
        source: source.name,
        reason: outcome,
        date: date ?? undefined,
        model_permaslug: model_permaslug ?? undefined,
        records: BigInt(records),
        tokens: BigInt(tokens),
      })
    } else if (date !== null && model_permaslug !== null) {
      yield { source: source.name, date, model_permaslug, tokens, requests: records }
    }
  }
}

/** What DuckDB says, in the words of someone who has the file and not DuckDB before them. */
const PLAIN_WORDS: readonly [RegExp, string][] = [
  [/state machine reached an invalid state/, 'its line ends are mixed (LF, CRLF, CR), or a quote is out of place'],
  [/maximum_object_size/, 'a line is longer than 16 MiB'],
  [/not a GZIP stream/, 'there is something behind its compressed data'],
]

/** The error with the names that people know in place of the links that DuckDB was given. */
function naming(error: unknown, source: Source, groups: readonly InputGroup[]): unknown {
  if (!(error instanceof Error) || error instanceof BuildError || error.name === 'AbortError') return error
  const file = groups.flatMap((group): LinkedFile[] => group.files).find(({ link }) => error.message.includes(link))
  const plain = PLAIN_WORDS.find(([pattern]) => pattern.test(error.message))?.[1]
  if (file === undefined && plain === undefined) return error
  const name = file?.name ?? `a file of source ${JSON.stringify(source.name)}`
  const reason =
    plain ?? (file === undefined ? error.message : error.message.replaceAll(file.link, file.name).split('\n')[0])
  return new BuildError(`${name} cannot be read whole: ${reason}`, { cause: error })
}
