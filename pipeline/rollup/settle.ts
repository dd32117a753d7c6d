import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import type { Files } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { InputFile } from '../raw/files/find.ts'
import type { GroupedFile, InputGroup } from '../raw/files/group.ts'
import { recognize } from '../raw/files/recognize.ts'
import { sumsBuckets } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'
import { reportRespelled } from './contributors.ts'
import { checkCountsPresent, keepCounts } from './count.ts'
import type { RollupRequest } from './engine.ts'
import { decideReplaced, type FileDecisions } from './file-decisions.ts'
import type { KeptFiles } from './kept.ts'
import type { Links } from './links.ts'
import { filesToWrite, noteRejects, writeRejects } from './rejects.ts'
import { resolveModels } from './result.ts'
import {
  enterFiles,
  forgetFiles,
  type KnownFile,
  knownFiles,
  listFiles,
  noteReread,
  renameFiles,
  type StateFile,
  touchFiles,
} from './state.ts'
import { daysToCompare, defineRecordsOf, findSurplus, type IdentifiedDay, type RecordsPlace } from './surplus.ts'
import { type Survey, verifyUnchanged } from './survey.ts'

export interface SettleOptions {
  database: Database
  kept: KeptFiles
  rejectsFolder: string
  /** For files that a build needs for a moment. */
  scratchFolder: string
  files: Files
}

export interface Update {
  source: Source
  compared: Survey
  decisions: FileDecisions
  groups: readonly InputGroup[]
  links: Links
}

type Present = ReadonlyMap<number, InputFile>

/**
 * Updates the state in one transaction, and the archive before it commits. After a stop, the next build adopts what
 * only the archive has and drops what only the state has, and lists rejected records again.
 */
export async function settle(update: Update, request: RollupRequest, options: SettleOptions): Promise<void> {
  const { database } = options
  const present = await database.transaction(() => updateState(update, request, options))
  if (update.groups.length > 0) await database.script('settle/free_memory')
  // Not in that transaction, which would hold the rejected records of all files in memory.
  await keepRejects(update, present, options)
}

async function updateState(update: Update, request: RollupRequest, options: SettleOptions): Promise<Present> {
  const { source, links, compared } = update
  const { database, kept } = options
  if (compared.reread.length > 0) await noteReread(database)
  await settleUnstored(update, request, options)
  const { present, forget, keep } = await enterAll(update, request, options)
  await forgetFiles(database, forget)
  await checkCountsPresent(database, source, request)
  await resolveModels(database, source, request.sources)
  await database.run('settle/touch_models')
  if (sumsBuckets(source)) await database.run('settle/touch_spanning')
  await findDuplicates(update, present, request, options)
  await database.run('settle/forget_touched')
  await database.run('settle/forget_models')
  await database.run('settle/keep_models')
  if (request.sources.on_missing === 'keep') await storeRecords(update, present, options)
  await verifyUnchanged(links.files)
  const names = new Set([...present.values()].map(({ name }) => name))
  for (const file of keep) await kept.keep(source.name, file, names.has(file.name))
  for (const file of forget) await kept.remove(file)
  return present
}

/** Removes duplicates of missing files without stored records now, because these files cannot be compared later. */
async function settleUnstored(update: Update, request: RollupRequest, options: SettleOptions): Promise<void> {
  const { source, decisions, compared } = update
  const { database, kept } = options
  const unstored: KnownFile[] = []
  for (const file of decisions.keep) {
    if (file.identified_records > 0n && (await kept.recordsOf(file)) === undefined) unstored.push(file)
  }
  // Stored with the file archived last, so that a build stopped before that repeats this.
  const last = unstored.at(-1)
  if (last === undefined) return
  const file_ids = unstored.map((file) => `${file.file_id}`)
  await database.run('settle/touch_duplicates', { file_ids })
  await database.run('settle/forget_ids', { file_ids })
  await database.run('settle/create_previous_surplus')
  await database.run('settle/create_previous_models')
  const present = new Map(compared.same.map(({ known, file }) => [known.file_id, file]))
  await checkComparable(update, last, present, options)
  await findDuplicates({ ...update, groups: [] }, present, request, options)
  await database.run('settle/subtract', { file_id: last.file_id })
  await database.run('settle/forget_touched')
  const names = `${last.name}${unstored.length > 1 ? ` and ${unstored.length - 1} more` : ''}`
  request.onNotice(
    `source ${JSON.stringify(source.name)}: on_missing was not keep when ${names} was read, so its request ids are ` +
      'unknown: duplicates of its records in other files will count twice',
  )
}

const CHANGED_TOO =
  'that file is missing or changed too, or its settings in the sources file changed. Restore one of the two files, or the settings, ' +
  'for one build'
const READ_DIFFERENTLY =
  'this version of Tokenboard reads that file differently. Restore the missing file for one build; or restore DATA_DIR and ' +
  'PUBLIC_DIR from the backup that was made before the upgrade, build once with the previous version and with on_missing set to ' +
  'keep, then upgrade'

/** Duplicates of a missing file can only be found by reading the other files with their previous reading. */
async function checkComparable(
  { source, compared }: Update,
  missing: KnownFile,
  present: Present,
  { database, kept }: SettleOptions,
): Promise<void> {
  for (const file of await filesToCompare(database, await daysToCompare(database))) {
    if (present.has(file.file_id) || (await kept.recordsOf(file)) !== undefined) continue
    const isReadDifferently = compared.moved.some((known) => {
      return known.file_id === file.file_id && compared.reread.includes(known)
    })
    throw new BuildError(
      `source ${JSON.stringify(source.name)}: ${missing.name} is missing, and on_missing was not keep when it was read. Its ` +
        `duplicates in ${file.name} cannot be found, because ${isReadDifferently ? READ_DIFFERENTLY : CHANGED_TOO}; or set ` +
        'on_missing to remove',
    )
  }
}

/** Adds the new files and decides what happens to missing and replaced ones. */
async function enterAll(
  { source, compared, decisions, groups }: Update,
  request: RollupRequest,
  { database, kept }: SettleOptions,
): Promise<FileDecisions & { present: Present }> {
  const { same, fresh, unlisted, moved } = compared
  await renameFiles(database, same)
  const numbers = await enterFiles(database, source.name, fresh)
  if (groups.length > 0) {
    await keepCounts(
      database,
      source,
      groups,
      new Map(fresh.map((file, position) => [file.name, numbers[position] ?? 0])),
    )
    await reportRespelled(database, source, request)
  }
  await touchFiles(
    database,
    numbers.map((file_id) => `${file_id}`),
  )
  const isReplacing = fresh.some(({ replaces }) => replaces !== undefined)
  const known = isReplacing ? await knownFiles(database) : []
  const records = new Map(known.map((file) => [file.file_id, file.open_records]))
  const all: FileDecisions[] = [decisions, { forget: [...unlisted, ...moved], keep: [] }]
  for (const [position, file] of fresh.entries()) {
    const file_id = numbers[position] ?? 0
    const isKept = file.replaces !== undefined && (await kept.recordsOf(file.replaces)) !== undefined
    all.push(decideReplaced(source, file, { records: records.get(file_id) ?? 0n, isKept }, request))
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

/** Finds duplicates on touched days, in all files with records of these days. */
async function findDuplicates(
  update: Update,
  present: Present,
  request: RollupRequest,
  { database, kept, scratchFolder }: SettleOptions,
): Promise<void> {
  const days = await daysToCompare(database)
  const known = await filesToCompare(database, days)
  const places = new Map<number, RecordsPlace>(await placesOf(update, present, known))
  for (const file of known.filter(({ file_id }) => !present.has(file_id))) {
    const path = await kept.recordsOf(file)
    if (path === undefined) throw new Error(`the records of ${file.name} are neither at hand nor kept`)
    places.set(file.file_id, { kept: path })
  }
  const opened = new Set<InputFile>(update.compared.fresh)
  const fresh = new Set([...present].flatMap(([file_id, file]) => (opened.has(file) ? [file_id] : [])))
  await findSurplus(update.source, days, places, { database, scratchFolder, request, fresh })
}

async function filesToCompare(database: Database, days: readonly IdentifiedDay[]): Promise<StateFile[]> {
  if (days.length === 0) return []
  const wanted = new Set(days.map((day) => day.file_id))
  return (await listFiles(database)).filter((file) => wanted.has(file.file_id))
}

async function placesOf(
  { groups, links }: Update,
  present: Present,
  known: readonly StateFile[],
): Promise<Map<number, GroupedFile>> {
  const files = known.flatMap(({ file_id }) => present.get(file_id) ?? [])
  const opened = new Set(groups.flatMap((group) => group.files.map((file) => file.name)))
  const closed = files.filter((file) => !opened.has(file.name))
  const again = await links.groupsOf(await sideBySide(closed, recognize))
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

async function keepRejects(update: Update, present: Present, options: SettleOptions): Promise<void> {
  const { database, rejectsFolder, files } = options
  const names = await filesToWrite(database, update.source.name, rejectsFolder)
  const all = names.size === 0 ? [] : await listFiles(database)
  const wanting = all.filter((file) => present.has(file.file_id) && names.has(file.name))
  const places = await placesOf(update, present, wanting)
  await writeRejects(database, places.values(), rejectsFolder, files)
  await database.transaction(() => noteRejects(database))
}

async function storeRecords(update: Update, present: Present, { database, kept }: SettleOptions): Promise<void> {
  const identified = (await knownFiles(database)).filter(
    (file) => present.has(file.file_id) && file.identified_records > 0n,
  )
  const unstored: KnownFile[] = []
  for (const file of identified) if (!(await kept.hasRecords(file))) unstored.push(file)
  const places = await placesOf(update, present, unstored)
  await database.run('surplus/create_kept')
  for (const file of unstored) {
    const place = places.get(file.file_id)
    if (place === undefined) continue
    await defineRecordsOf(database, update.source, [place])
    await kept.storeRecords(file)
  }
}
