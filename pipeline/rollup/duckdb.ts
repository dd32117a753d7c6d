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
import type { RejectReason, RollupEngine, RollupRequest, RollupRow, SetAsideReason } from './engine.ts'

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
  const found = await findInputFiles(source, request.sources.folder)
  if (found.length === 0) request.onNotice(`source ${JSON.stringify(source.name)} has no files`)
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
    throw naming(error, groups)
  }
  await reportRejectedFiles(database, source, groups, request)
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
  await database.runWithProgress('rollup_groups', {}, (progress) =>
    request.onProgress({ source: source.name, ...progress }),
  )
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
  for (const batch of batches(days)) {
    await defineUsage(database, source, filesOf(groups, batch))
    const range = { first_day: batch.at(0)?.day_number ?? 0n, last_day: batch.at(-1)?.day_number ?? 0n }
    await database.runWithProgress('rollup_surplus', range, (progress) =>
      request.onProgress({ source: source.name, ...progress }),
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
  const malformed = await database.rows<{ file_path: string; records: bigint }>('rollup_malformed')
  for (const { file_path, records } of malformed) {
    const file = names.get(file_path) ?? ''
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

async function* result(database: Database, source: Source, request: RollupRequest): AsyncIterable<RollupRow> {
  const rows = await database.rows<{
    date: string | null
    model_permaslug: string | null
    outcome: SetAsideReason | 'public'
    records: string
    tokens: string
  }>('rollup_result')
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
      yield { date, model_permaslug, tokens, requests: records }
    }
  }
}

/** The error with the names that people know in place of the links that DuckDB was given. */
function naming(error: unknown, groups: readonly InputGroup[]): unknown {
  if (!(error instanceof Error)) return error
  const file = groups.flatMap((group): LinkedFile[] => group.files).find(({ link }) => error.message.includes(link))
  if (file === undefined) return error
  return new BuildError(`${file.name} cannot be read whole: ${error.message.replaceAll(file.link, file.name)}`)
}
