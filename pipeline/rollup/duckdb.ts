import { join, resolve } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { Contents } from '../raw/files/content.ts'
import { type FoundFiles, findInputFiles, type InputFile, isFile } from '../raw/files/find.ts'
import type { InputGroup } from '../raw/files/group.ts'
import { recognize } from '../raw/files/recognize.ts'
import { readsContributor } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'
import { isOfSums } from '../raw/sources.ts'
import type { Archive } from './archive.ts'
import {
  assertBalanced,
  hasContributors,
  reportSessions,
  setBound,
  setKeyIfNeeded,
  withoutLostIds,
} from './contributors.ts'
import { checkNotRestated, countRecords } from './count.ts'
import type { Progress, RollupEngine, RollupRequest } from './engine.ts'
import { decideMissing, type FileDecisions } from './file-decisions.ts'
import { Links } from './links.ts'
import { reportIds } from './notes.ts'
import { isOutdated, readingOf } from './reading.ts'
import { tidyRejects } from './rejects.ts'
import { deliver, deliverContributions, reportOldCounts, reportRowsOfSums } from './result.ts'
import { type SettleOptions, settle } from './settle.ts'
import { reportShared } from './shared-files.ts'
import { countSums, type KnownFile, knownFiles, openState } from './state.ts'
import { compareStamps, type Stamps, type Survey, survey } from './survey.ts'
import { forgetUnlistedSources } from './unlisted-sources.ts'

export interface DuckDbEngineOptions extends SettleOptions {
  linkFolder: string
  archive: Archive
  signal: AbortSignal
  /** Reads the key of the contributors' ids; makes one if there is none. */
  contributorKey: () => Promise<string>
  /** Reads the key that the bound of rules is drawn from; undefined for the synthetic sample. */
  boundKey: (() => Promise<string>) | undefined
}

/** The embedded engine: DuckDB reads new and replaced raw files, and the state keeps the sums of each file. */
export function createDuckDbEngine(options: DuckDbEngineOptions): RollupEngine {
  return {
    async rollup(request) {
      const { database, archive, kept, rejectsFolder, files } = options
      await database.run('result/create_rollup')
      await database.run('disclosure/create_contributions')
      await openState(database)
      const update: RollupRequest = { ...request, onNotice: request.onNews }
      await forgetUnlistedSources(update, options)
      const isMeasured = hasContributors(request.sources)
      for (const source of request.sources.sources) {
        await archive.select(database, source.name)
        const hasIds = await updateState(source, update, options)
        await deliver(database, source, request)
        if (isMeasured) await deliverContributions(database, source, request.sources, { hasIds })
        if (readsContributor(source)) await reportSessions(database, source, request)
        await reportOldCounts(database, { source: source.name, reader: source.schema }, request)
        if (isOfSums(source)) await reportRowsOfSums(database, request)
        else await reportIds(database, source, request)
      }
      if (isMeasured) {
        await setBound(database, options.boundKey)
        await assertBalanced(database, request.sources)
      }
      await database.run('surplus/create_shared')
      await reportShared(database, request)
      await kept.tidy()
      await tidyRejects(database, rejectsFolder, files)
    },
  }
}

/** Returns whether some of its usage may have an id of a contributor. */
async function updateState(source: Source, request: RollupRequest, options: DuckDbEngineOptions): Promise<boolean> {
  const { database, archive, kept, linkFolder, contributorKey } = options
  const { folder, sources } = request.sources
  const found = await findInputFiles(source, request.sources)
  const stored = await knownFiles(database)
  const isChanged = await database.transaction(() => kept.adopt(source.name, stored))
  const contributors = { isRead: readsContributor(source), readKey: contributorKey }
  let hasIds = await setKeyIfNeeded(database, 'stored', contributors)
  const reading = readingOf(source)
  const all = isChanged ? await knownFiles(database) : stored
  const names = new Set(found.files.map(({ name }) => name))
  const isThere = ({ name, kept }: KnownFile) => kept === null && names.has(name)
  const known = hasIds
    ? await withoutLostIds(database, all, { source, what: 'raw file', isThere, notice: request.onNotice })
    : all
  checkListed(source, found, request, [...known.map(({ name }) => name), ...(await archive.inputs(database))])
  const readingOfFile = ({ columns }: InputFile) => (columns === undefined ? reading : readingOf(source, columns))
  const stamps = await recognized(compareStamps(found.files, known, readingOfFile))
  const ownFolder = join(linkFolder, `${sources.indexOf(source)}`)
  const links = new Links(source, ownFolder, options)
  await chooseThreads(database, stamps.changed)
  let isCounting = false
  const stage = `compare ${source.name}`
  const onRead = (progress: Progress) => isCounting || request.onProgress({ stage, ...progress })
  const count = async (files: readonly InputFile[], contents: Contents): Promise<InputGroup[]> => {
    const groups = await links.groupsOf(files, contents)
    isCounting = true
    if (groups.length > 0) {
      const room = { folder: `${ownFolder}-sums`, files: options.files }
      await countRecords(database, source, groups, { request, room })
      if (await setKeyIfNeeded(database, 'counted', contributors)) hasIds = true
    }
    return groups
  }
  try {
    const reader = links.read(stamps.changed, onRead)
    // If all files to read are new, count their records while the files are hashed.
    const early = stamps.left.length === 0 ? count(stamps.changed, reader) : undefined
    const [contents, counted] = await together(reader.all, early)
    const compared = await survey(
      found.files,
      known,
      { ...stamps, contents },
      {
        readingOf: readingOfFile,
        isUnlisted: ({ name }) => isFile(resolve(folder, name)),
        isReplaceable: (file) => kept.isReplaceable(file),
        isOutdated: (file) => isOutdated(file.reading, source.schema),
      },
    )
    reportSurvey(source, found, compared, request)
    const decisions = decideMissing(source, compared.missing, request)
    const groups = counted ?? (await count(compared.fresh, reader))
    if (groups.length > 0 && isOfSums(source)) await checkNotRestated(database, keptFiles(known, compared, decisions))
    const update = { source, compared, decisions, groups, links }
    await settle(update, request, options)
    // What follows reads sums alone.
    await chooseThreads(database, [])
    return hasIds
  } catch (error) {
    throw await links.naming(error)
  }
}

/** Below this, threads lose more by waiting for each other than they gain. */
const SMALL = { bytes: 4_000_000, rowsOfState: 1_000_000 }

async function chooseThreads(database: Database, changed: readonly InputFile[]): Promise<void> {
  const bytes = changed.reduce((sum, file) => sum + file.bytes, 0)
  const isSmall = bytes < SMALL.bytes && (await countSums(database)) < SMALL.rowsOfState
  await database.useThreads(isSmall ? 'one' : 'all')
}

/** What files that must be compared are by their first bytes. All others are read as they were. */
async function recognized(stamps: Stamps): Promise<Stamps> {
  return { ...stamps, changed: await sideBySide(stamps.changed, recognize) }
}

async function together<First, Second>(first: Promise<First>, second: Promise<Second> | undefined) {
  const [a, b] = await Promise.allSettled([first, second])
  if (a.status === 'rejected') throw a.reason
  if (b.status === 'rejected') throw b.reason
  return [a.value, b.value] as const
}

function keptFiles(known: readonly KnownFile[], { fresh, moved }: Survey, decisions: FileDecisions): KnownFile[] {
  const given = new Set([...moved, ...fresh.map(({ replaces }) => replaces)])
  return [...decisions.keep, ...known.filter((file) => file.kept !== null && !given.has(file))]
}

/** A listed file that is not there is an error (with `remove` a notice), unless its records are known or archived. */
function checkListed(
  source: Source,
  { missing }: FoundFiles,
  { sources: { on_missing }, onNotice }: RollupRequest,
  accounted: readonly string[],
): void {
  for (const name of missing.filter((entry) => !accounted.includes(entry))) {
    const message = `source ${JSON.stringify(source.name)}: there is no file ${name}`
    if (on_missing !== 'remove') throw new BuildError(message)
    onNotice(message)
  }
}

const DUPLICATES_SHOWN = 3

function reportSurvey(
  source: Source,
  { unmatched, samples, unfit }: FoundFiles,
  compared: Survey,
  { onNotice }: RollupRequest,
): void {
  const name = `source ${JSON.stringify(source.name)}`
  for (const folder of samples) onNotice(`${name}: the files of the synthetic sample in ${folder} are excluded`)
  for (const pattern of unmatched) onNotice(`${name}: no file matches ${pattern}`)
  for (const { pattern, names } of unfit) {
    const files = names.length === 1 ? `${names[0]} does` : `${names.length} files, such as ${names[0]}, do`
    onNotice(`${name}: ${files} not fit ${pattern} and ${names.length === 1 ? 'is' : 'are'} not read`)
  }
  if (compared.unlisted.length > 0) {
    const [first, ...others] = compared.unlisted.map((file) => file.name)
    const more =
      others.length > 0 ? ` and ${counted(others.length, 'more file')} ${others.length === 1 ? 'is' : 'are'}` : ' is'
    onNotice(`${name}: ${first}${more} no longer named by the source: the records are not counted`)
  }
  if (compared.reread.length > 0) {
    const files = compared.reread.length === 1 ? '1 file is' : `${compared.reread.length} files are`
    onNotice(`${name}: ${files} read again, because this version of Tokenboard reads them differently`)
  }
  for (const { file, original } of compared.duplicates.slice(0, DUPLICATES_SHOWN)) {
    onNotice(`${name}: ${file} has the same records as ${original}; records without a request_id count twice`)
  }
  if (compared.duplicates.length > DUPLICATES_SHOWN)
    onNotice(`${name}: ${compared.duplicates.length} files in total have the same records as others`)
}
