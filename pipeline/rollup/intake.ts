import { join } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { UsageError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { Account } from '../dataset/quality.ts'
import { lastCredibleDate, setCredibleDates } from '../raw/credible-dates.ts'
import { findInputFiles, folderOfEntry, foldersOf } from '../raw/files/find.ts'
import { copyObjects } from '../raw/objects/copies.ts'
import { isObjectUrl } from '../raw/objects/object.ts'
import { isSampleFolder } from '../raw/sample/folder.ts'
import { SAMPLE_DEFAULTS } from '../raw/sample/options.ts'
import { writeSample } from '../raw/sample/write.ts'
import { type ReadOptions, readSources, type Sources } from '../raw/sources.ts'
import { kindOfChain } from '../release/chain.ts'
import { readIndex } from '../release/index.ts'
import { Archive } from './archive.ts'
import { createDuckDbEngine } from './duckdb.ts'
import type { RollupEngine } from './engine.ts'
import { forgetSample, isStateOfSample } from './forget-sample.ts'
import { KeptFiles } from './kept.ts'
import type { UsageLedger } from './usage.ts'
import type { Workspace } from './workspace.ts'

/** The default sources file of the default data folder. */
const USUAL_SOURCES = 'data/sources.json'

/** The sources file that is read where SOURCES is unset. */
export function defaultSources({ dataDir }: Pick<PipelineConfig, 'dataDir'>): string {
  return join(dataDir, 'sources.json')
}

/**
 * The sources that SOURCES names, or else the default ones; undefined where there are neither. Throws `UsageError` where
 * the default data folder has a sources file and another one in use has none: that may be a forgotten setting.
 */
export async function namedSources(
  config: Pick<PipelineConfig, 'sources' | 'dataDir'>,
  options: ReadOptions = {},
): Promise<Sources | undefined> {
  if (config.sources !== undefined) return readSources(config.sources, options)
  const path = defaultSources(config)
  if (await isThere(path)) return readSources(path, options)
  if (!(await isThere(USUAL_SOURCES))) return undefined
  throw new UsageError(
    `there is no ${path}, but there is ${USUAL_SOURCES}, and SOURCES is unset: write ${path}, or name the file to read ` +
      `as SOURCES (SOURCES=${USUAL_SOURCES}); the synthetic sample is not built in its place`,
  )
}

/** Whether a build of these sources is one of the sample: there are none, or they lie in a folder of the sample. */
export async function isSynthetic(named: Sources | undefined): Promise<boolean> {
  return named === undefined || isSampleFolder(named.folder)
}

/**
 * The sources that a maintainer named or, where there are none, the synthetic sample, written to `sampleFolder`. `synthetic`
 * is what `isSynthetic` says of those that were named.
 */
export async function chooseSources(
  { named, synthetic, config }: { named: Sources | undefined; synthetic: boolean; config: PipelineConfig },
  sampleFolder: string,
  lastDate: UtcDate,
  effects: Effects,
): Promise<Sources> {
  const notice = (message: string) => effects.report({ kind: 'notice', message })
  if (named !== undefined) {
    if (synthetic) notice(`${named.folder} holds the sample: building from SYNTHETIC sample data`)
    return named
  }
  notice(`there is no ${defaultSources(config)}: building from SYNTHETIC sample data`)
  const { sourcesFile } = await writeSample({ folder: sampleFolder, lastDay: lastDate, ...SAMPLE_DEFAULTS }, effects)
  return readSources(sourcesFile)
}

/** The sources with copies of what they name in buckets, fetched where they are not there or not those of the objects. */
export async function withObjects(
  sources: Sources,
  { stateDir }: Pick<Workspace, 'stateDir'>,
  { memoryLimit }: PipelineConfig,
  effects: Effects,
): Promise<Sources> {
  const options = { folder: join(stateDir, 'objects'), scratch: join(stateDir, 'objects/.next'), memoryLimit, effects }
  return { ...sources, objects: await copyObjects(sources.sources, options) }
}

/** What an engine is chosen by, and what it may have to know. */
export interface Intake {
  config: PipelineConfig
  sources: Sources
  asOf: Date
  /** Whether the sources are the sample, which has records up to `asOf` whatever the clock says. */
  synthetic: boolean
  /** Dates that are to be asked for again, of an engine that is asked day by day. */
  reread?: readonly UtcDate[] | undefined
  /** The last date that a record can have, for a release that is made again: what the clock said then. */
  lastCredible?: UtcDate | undefined
}

/** What an engine is opened with. */
export interface OpenedEngine {
  engine: RollupEngine
  archive: Archive
  /** The last date that a record can have. */
  lastCredible: UtcDate
}

/** Where the raw files of all sources lie: below the folders that their entries name, and wherever links lead. */
async function foldersOfSources(all: Sources): Promise<string[]> {
  const { folder, sources } = all
  const found = await sideBySide(sources, (source) => findInputFiles(source, all))
  const entries = sources.flatMap(({ files }) => files.filter((entry) => !isObjectUrl(entry)))
  const named = entries.map((entry) => folderOfEntry(entry, folder))
  return [...new Set([...named, ...(await foldersOf(found.flatMap(({ files }) => files)))])]
}

/**
 * The engine that sums the usage, and the archive that stands in for what is gone, both proven. From here on the database
 * reaches the raw files and the folders of the workspace alone. Throws `UsageError` where
 * ENGINE and the sources file name different ones.
 */
export async function openEngine(
  { database, stateDir, archiveDir, keptDir, folder, reach }: Workspace,
  { config, sources, asOf, synthetic, reread = [], lastCredible: given }: Intake,
  { files, signal, now }: Effects,
): Promise<OpenedEngine> {
  assertNamedEngine(config, sources)
  const clock = now()
  const lastCredible = given ?? lastCredibleDate(synthetic && asOf > clock ? asOf : clock)
  await setCredibleDates(database, lastCredible)
  await database.confine([...reach, ...(await foldersOfSources(sources))])
  const archive = await Archive.open(archiveDir)
  const kept = await KeptFiles.open({ stateDir, keptDir, database, files })
  const common = { database, rejectsFolder: join(stateDir, 'rejects'), archive, kept, files, signal }
  if (sources.engine.kind === 'clickhouse') {
    // Its client is loaded where it is needed.
    const { createClickHouseEngine } = await import('./clickhouse.ts')
    const options = { choice: sources.engine, login: config.clickhouse, asOf, now: clock, lastCredible, reread }
    return { engine: createClickHouseEngine({ ...common, ...options }), archive, lastCredible }
  }
  if (reread.length > 0) {
    throw new UsageError(
      '--reread is for ClickHouse, which is asked for a final day once: raw files are read again when they change',
    )
  }
  return { engine: createDuckDbEngine({ ...common, linkFolder: join(folder, 'inputs') }), archive, lastCredible }
}

function assertNamedEngine({ engine }: PipelineConfig, { engine: { kind } }: Sources): void {
  if (engine === undefined || engine === kind) return
  throw new UsageError(
    engine === 'clickhouse'
      ? 'ENGINE is clickhouse, but the sources file does not say which: add "engine": {"clickhouse": {"url": …, "view": …}}'
      : `ENGINE is ${engine}, but the sources file names ${kind} as its engine; unset ENGINE, or remove "engine" and list "sources"`,
  )
}

/**
 * Forgets the sample where it is all that was built so far and other logs are read now: they may well be called like its
 * own. Where somebody emptied the public folder, the state says what it was made of.
 */
export async function leaveSample({ database, publicDir }: Workspace, archive: Archive): Promise<void> {
  const kind = await kindOfChain(publicDir, await readIndex(publicDir))
  const isOver = kind === 'synthetic' || (kind === 'empty' && (await isStateOfSample(database, archive)))
  if (isOver) await forgetSample(database, archive)
}

/**
 * Has the engine fill the rollup; what is no part of it goes into the account, what keys used into the ledger, what it was made of into
 * `inputs`. Copies of objects that are gone go when it is done, and not before.
 */
export async function readRecords(
  engine: RollupEngine,
  sources: Sources,
  { account, usage, inputs }: { account: Account; usage?: UsageLedger; inputs?: string[] },
  { report }: Effects,
): Promise<void> {
  report({ kind: 'stage', stage: 'read' })
  await engine.rollup({
    sources,
    onProgress: (progress) => report({ kind: 'progress', ...progress }),
    onStage: (stage) => report({ kind: 'done', ...stage }),
    onSetAside: (records) => account.add(records),
    onRejectedInFile: (records) => account.addFile(records),
    onCompared: (records) => account.addCompared(records),
    onReadingNote: (note) => account.addNote(note),
    onNoRequestIds: (without) => account.addWithoutIds(without),
    onRowsOfSums: ({ rows, rejected }) => account.addRowsOfSums(Number(rows), Number(rejected)),
    onKeyUsage: (row) => usage?.add(row),
    onOldCounts: (counted) => account.addOldCounts(counted),
    onInput: (sha256) => inputs?.push(sha256),
    onNotice: (message) => report({ kind: 'notice', message }),
  })
  await sources.objects?.tidy()
}
