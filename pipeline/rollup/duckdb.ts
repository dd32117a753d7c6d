import { join } from 'node:path'
import type { Archive } from '../archive.ts'
import type { Database } from '../database.ts'
import { BuildError, UsageError } from '../errors.ts'
import type { Files } from '../files.ts'
import { type FoundFiles, findInputFiles, type InputFile } from '../inputs/find.ts'
import type { InputGroup } from '../inputs/group.ts'
import type { Source } from '../sources.ts'
import { assertCountsPresent, countRecords, keepCounts } from './count.ts'
import type { RollupEngine, RollupRequest } from './engine.ts'
import type { KeptFiles } from './kept.ts'
import { Links } from './links.ts'
import { judgeGone, judgeReplaced, type Losses } from './losses.ts'
import { readingOf } from './reading.ts'
import { readResult, resolveModels } from './result.ts'
import { enterFiles, forgetFile, type KnownFile, knownFiles, openState, renameFile } from './state.ts'
import { daysToCompare, defineRecordsOf, findSurplus, type RecordsPlace } from './surplus.ts'
import { assertUntouched, type Survey, survey } from './survey.ts'

export interface DuckDbEngineOptions {
  database: Database
  /** An empty folder of this engine's own, for links to the raw files. */
  linkFolder: string
  archive: Archive
  kept: KeptFiles
  files: Files
  signal: AbortSignal
}

/**
 * The embedded engine: DuckDB reads the raw files where they lie, each once, and again those that share a day with new
 * records that may be repeated. What a file contributed is kept in the state, so that a later build reads only what
 * is new or changed.
 */
export function createDuckDbEngine(options: DuckDbEngineOptions): RollupEngine {
  return {
    async *rollup(request) {
      const { database, archive, kept } = options
      await openState(database)
      await forgetFormerSources(request, options)
      for (const source of request.sources.sources) {
        await archive.select(database, source.name)
        await updateState(source, request, options)
        yield* readResult(database, source, request)
      }
      await kept.tidy()
    },
  }
}

/** A source that is not listed any more takes its records with it, but for those that only the archive has. */
async function forgetFormerSources(request: RollupRequest, { database, archive }: DuckDbEngineOptions): Promise<void> {
  const names = request.sources.sources.map(({ name }) => name)
  const missing = archive.sources.find((name) => !names.includes(name))
  if (missing !== undefined) {
    throw new UsageError(
      `the archive holds dates of source ${JSON.stringify(missing)}, which the sources file has not any more; ` +
        'list it again (its files may be gone), or take its parts out of data/archive',
    )
  }
  const known = await database.rows<{ source: string }>('state/sources')
  for (const { source } of known.filter((entry) => !names.includes(entry.source))) {
    await archive.select(database, source)
    const files = await knownFiles(database)
    await database.transaction(async () => {
      for (const file of files) await forgetFile(database, file)
    })
    const kept = files.some((file) => file.kept !== null)
      ? '; what was kept of files that are gone stays in the archive'
      : ''
    request.onNotice(`source ${JSON.stringify(source)} is not listed any more: its records are not counted${kept}`)
  }
}

/** Brings the state of one source up to date with its files. Nothing of it is changed when anything fails. */
async function updateState(source: Source, request: RollupRequest, options: DuckDbEngineOptions): Promise<void> {
  const { database, archive, kept, linkFolder, signal } = options
  const { folder, sources } = request.sources
  const found = await findInputFiles(source, folder)
  await database.transaction(async () => kept.adopt(source.name, await knownFiles(database)))
  const known = await knownFiles(database)
  assertPresent(source, found, request, [...known.map(({ name }) => name), ...archive.inputs(source.name)])
  const compared = await survey(found.files, known, { reading: readingOf(source), folder, signal })
  reportSurvey(source, found, compared, request)
  const losses = judgeGone(source, compared.gone, request)
  const links = new Links(source, join(linkFolder, `${sources.indexOf(source)}`), options)
  try {
    const groups = await links.groupsOf(compared.fresh)
    if (groups.length > 0) await countRecords(database, source, groups, request)
    const update = { source, compared, losses, groups, links }
    const dropped = await database.transaction(() => settle(update, request, options))
    for (const file of dropped) await kept.remove(file)
  } catch (error) {
    throw links.naming(error)
  }
}

/** A file that is named and not there is a mistake, unless its records were read or archived when it was. */
function assertPresent(
  source: Source,
  { absent }: FoundFiles,
  { sources: { on_missing }, onNotice }: RollupRequest,
  accounted: readonly string[],
): void {
  for (const name of absent.filter((entry) => !accounted.includes(entry))) {
    const message = `source ${JSON.stringify(source.name)}: there is no file ${name}`
    if (on_missing !== 'remove') throw new BuildError(message)
    onNotice(message)
  }
}

const TWINS_SHOWN = 3

function reportSurvey(source: Source, { unmatched }: FoundFiles, compared: Survey, { onNotice }: RollupRequest): void {
  const name = `source ${JSON.stringify(source.name)}`
  for (const pattern of unmatched) onNotice(`${name}: no file matches ${pattern}`)
  if (compared.unlisted.length > 0) {
    const [first, ...others] = compared.unlisted.map((file) => file.name)
    const more = others.length > 0 ? ` and ${others.length} more files are` : ' is'
    onNotice(`${name}: ${first}${more} not among its files any more: the records are not counted`)
  }
  for (const { file, twin } of compared.twins.slice(0, TWINS_SHOWN)) {
    onNotice(`${name}: ${file} holds the same bytes as ${twin}; records without a request_id count twice`)
  }
  if (compared.twins.length > TWINS_SHOWN)
    onNotice(`${name}: ${compared.twins.length} files in all are copies of others`)
}

interface Update {
  source: Source
  compared: Survey
  losses: Losses
  /** The fresh files, which are counted already. */
  groups: readonly InputGroup[]
  links: Links
}

/** The files at hand, by their numbers in the state. */
type Present = ReadonlyMap<number, InputFile>

/** Enters what was found into the state, in one transaction. Returns the kept files that the archive need not hold any more. */
async function settle(update: Update, request: RollupRequest, options: DuckDbEngineOptions): Promise<KnownFile[]> {
  const { source, links } = update
  const { database, kept } = options
  await closeBare(update, request, options)
  const { present, forget, keep } = await enterAll(update, request, options)
  for (const file of forget) await forgetFile(database, file)
  await assertCountsPresent(database, source, request)
  await resolveModels(database, source, request.sources)
  await database.run('rollup/touch_models')
  await findRepeated(update, present, request, options)
  await database.run('rollup/forget_models')
  await database.run('rollup/keep_models')
  if (request.sources.on_missing === 'keep') await storeRecords(update, present, options)
  for (const file of keep) await kept.keep(source.name, file)
  await assertUntouched(links.files)
  return forget.filter((file) => file.kept !== null)
}

/**
 * Files that are gone and whose records were not kept cannot be looked at again: what they repeat of other files is
 * taken off them once and for all, before anything else is entered.
 */
async function closeBare(update: Update, request: RollupRequest, options: DuckDbEngineOptions): Promise<void> {
  const { source, losses, compared } = update
  const { database, kept } = options
  const bare: KnownFile[] = []
  for (const file of losses.keep) {
    if (file.identified_records > 0n && (await kept.recordsOf(file)) === undefined) bare.push(file)
  }
  const [first] = bare
  if (first === undefined) return
  for (const { file_id } of bare) await database.run('rollup/touch_file', { file_id })
  for (const { file_id } of bare) await database.run('kept/forget_ids', { file_id })
  await database.run('kept/former_surplus')
  await resolveModels(database, source, request.sources)
  const present = new Map(compared.same.map(({ known, file }) => [known.file_id, file]))
  await findRepeated({ ...update, groups: [] }, present, request, options)
  await database.run('kept/settle', { file_id: first.file_id })
  const names = `${first.name}${bare.length > 1 ? ` and ${bare.length - 1} more` : ''}`
  request.onNotice(
    `source ${JSON.stringify(source.name)}: on_missing was not keep when ${names} was read, so its request ids are not ` +
      'known any more: a record of it that is delivered again in another file will count twice',
  )
}

/** Enters the fresh files and says what becomes of those that went, or in whose place they came. */
async function enterAll(
  { source, compared, losses, groups }: Update,
  request: RollupRequest,
  { database, kept }: DuckDbEngineOptions,
): Promise<Losses & { present: Present }> {
  const { same, fresh, unlisted, elsewhere } = compared
  for (const { known, file } of same) {
    if (known.name !== file.name || known.modified !== file.modified) await renameFile(database, known, file)
  }
  const numbers = await enterFiles(database, source.name, fresh)
  if (groups.length > 0) {
    await keepCounts(database, groups, new Map(fresh.map((file, position) => [file.name, numbers[position] ?? 0])))
  }
  const records = new Map((await knownFiles(database)).map((file) => [file.file_id, file.open_records]))
  const all: Losses[] = [losses, { forget: [...unlisted, ...elsewhere], keep: [] }]
  for (const [position, file] of fresh.entries()) {
    const file_id = numbers[position] ?? 0
    await database.run('rollup/touch_file', { file_id })
    const isKept = file.replaces !== undefined && (await kept.recordsOf(file.replaces)) !== undefined
    all.push(judgeReplaced(source, file, { records: records.get(file_id) ?? 0n, isKept }, request))
  }
  return {
    present: new Map([
      ...same.map(({ known, file }) => [known.file_id, file] as const),
      ...fresh.map((file, position) => [numbers[position] ?? 0, file] as const),
    ]),
    forget: [...new Set(all.flatMap(({ forget }) => forget))],
    keep: [...new Set(all.flatMap(({ keep }) => keep))],
  }
}

/** Looks for repeated records on the days that were touched, in all files that have records of them. */
async function findRepeated(
  update: Update,
  present: Present,
  request: RollupRequest,
  { database, kept }: DuckDbEngineOptions,
): Promise<void> {
  const days = await daysToCompare(database)
  const wanted = new Set(days.map((day) => day.file_id))
  const known = (await knownFiles(database)).filter((file) => wanted.has(file.file_id))
  const places = await placesOf(update, present, known)
  for (const file of known.filter(({ file_id }) => !present.has(file_id))) {
    const path = await kept.recordsOf(file)
    if (path === undefined) throw new Error(`the records of ${file.name} are neither at hand nor kept`)
    places.set(file.file_id, { kept: path })
  }
  await findSurplus(database, update.source, days, places, request)
  await database.run('rollup/forget_touched')
}

/** Where the records of files at hand are read. Those that are not fresh are opened again. */
async function placesOf(
  { groups, links }: Update,
  present: Present,
  known: readonly KnownFile[],
): Promise<Map<number, RecordsPlace>> {
  const files = known.flatMap(({ file_id }) => present.get(file_id) ?? [])
  const opened = new Set(groups.flatMap((group) => group.files.map((file) => file.name)))
  const again = await links.groupsOf(files.filter((file) => !opened.has(file.name)))
  const byName = new Map(
    [...groups, ...again].flatMap((group) => group.files.map((file) => [file.name, { group, file }] as const)),
  )
  return new Map(
    known.flatMap(({ file_id }) => {
      const place = byName.get(present.get(file_id)?.name ?? '')
      return place === undefined ? [] : [[file_id, place] as const]
    }),
  )
}

/** Keeps the records of each file at hand, for the day when it is gone. */
async function storeRecords(update: Update, present: Present, { database, kept }: DuckDbEngineOptions): Promise<void> {
  const identified = (await knownFiles(database)).filter(
    (file) => present.has(file.file_id) && file.identified_records > 0n,
  )
  const bare: KnownFile[] = []
  for (const file of identified) if (!(await kept.hasRecords(file))) bare.push(file)
  const places = await placesOf(update, present, bare)
  await database.run('kept/create')
  for (const file of bare) {
    const place = places.get(file.file_id)
    if (place === undefined || 'kept' in place) continue
    await defineRecordsOf(database, update.source, [place])
    await kept.storeRecords(file)
  }
}
