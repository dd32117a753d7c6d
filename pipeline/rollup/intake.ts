import { join } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { Account } from '../dataset/quality.ts'
import { lastCredibleDate, setCredibleDates } from '../raw/credible-dates.ts'
import { type FoundFiles, findInputFiles, folderOfEntry, foldersOf } from '../raw/files/find.ts'
import { isSampleFolder } from '../raw/sample/folder.ts'
import { SAMPLE_DEFAULTS } from '../raw/sample/options.ts'
import { writeSample } from '../raw/sample/write.ts'
import { type ReadOptions, readSources, type Sources } from '../raw/sources.ts'
import { kindOfChain } from '../release/chain.ts'
import { readIndex } from '../release/index.ts'
import type { Input } from '../release/inputs.ts'
import { Archive } from './archive.ts'
import { createDuckDbEngine } from './duckdb.ts'
import type { RollupEngine } from './engine.ts'
import { forgetSample, isStateOfSample } from './forget-sample.ts'
import { KeptFiles } from './kept.ts'
import type { KeySpendLedger } from './usage.ts'
import type { Workspace } from './workspace.ts'

const USUAL_SOURCES = 'data/sources.json'

export function defaultSources({ dataDir }: Pick<PipelineConfig, 'dataDir'>): string {
  return join(dataDir, 'sources.json')
}

/** Where the sources file is or will be. */
export function sourcesPath(config: Pick<PipelineConfig, 'sources' | 'dataDir'>): string {
  return config.sources ?? defaultSources(config)
}

/**
 * The sources named by SOURCES, else the default ones, else undefined. Throws `CliError` if only the default data
 * folder has a sources file and another folder is in use: a setting may be forgotten.
 */
export async function namedSources(
  config: Pick<PipelineConfig, 'sources' | 'dataDir'>,
  options: ReadOptions = {},
): Promise<Sources | undefined> {
  if (config.sources !== undefined) return readSources(config.sources, options)
  const path = defaultSources(config)
  if (await isThere(path)) return readSources(path, options)
  if (!(await isThere(USUAL_SOURCES))) return undefined
  throw new CliError(
    `there is no ${path}, but there is ${USUAL_SOURCES}, and SOURCES is unset: write ${path}, or name the file to read ` +
      `as SOURCES (SOURCES=${USUAL_SOURCES}); the synthetic sample is not built in its place`,
  )
}

/** Whether a build uses the sample: no sources are named, or they are the sample's own. */
export async function isSynthetic(named: Sources | undefined): Promise<boolean> {
  return named === undefined || isSampleFolder(named.folder)
}

/** The named sources, or the synthetic sample, written to `sampleFolder`. */
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

export interface Intake {
  config: PipelineConfig
  sources: Sources
  asOf: Date
  /** Whether the sources are the sample, which has records up to `asOf` even if that is in the future. */
  synthetic: boolean
  reread?: readonly UtcDate[] | undefined
  /** Overrides the clock's last plausible date when a release is made again. */
  lastCredible?: UtcDate | undefined
}

export interface OpenedEngine {
  engine: RollupEngine
  archive: Archive
  lastCredible: UtcDate
  /** By source, the files that there were when the engine was opened. */
  found: FoundFiles[]
}

/** The folders that raw files lie in, without those within others. */
function foldersOfSources({ folder, sources }: Sources, found: readonly FoundFiles[]): string[] {
  const named = sources.flatMap(({ files }) => files.map((entry) => folderOfEntry(entry, folder)))
  const real = found.flatMap(({ files }) => foldersOf(files))
  const outer: string[] = []
  for (const each of [...named, ...real].sort()) {
    const last = outer.at(-1)
    if (each !== last && !each.startsWith(`${last}/`)) outer.push(each)
  }
  return outer
}

/** Opens the engine and the verified archive, and confines the database. Throws `CliError` for a wrong ENGINE. */
export async function openEngine(
  { database, stateDir, archiveDir, keptDir, folder, reach, secret }: Workspace,
  { config, sources, asOf, synthetic, reread = [], lastCredible: given }: Intake,
  { files, signal, now }: Effects,
): Promise<OpenedEngine> {
  checkEngine(config, sources)
  const clock = now()
  const lastCredible = given ?? lastCredibleDate(synthetic && asOf > clock ? asOf : clock)
  await setCredibleDates(database, lastCredible)
  const found = await sideBySide(sources.sources, (source) => findInputFiles(source, sources))
  await database.confine([...reach, ...foldersOfSources(sources, found)])
  const archive = await Archive.open(archiveDir)
  const kept = await KeptFiles.open({ stateDir, keptDir, database, files })
  const contributorKey = () => secret.keyFor('contributors')
  const boundKey = synthetic ? undefined : () => secret.keyFor('bound')
  const keys = { contributorKey, boundKey }
  const common = { database, rejectsFolder: join(stateDir, 'rejects'), archive, kept, files, signal, ...keys }
  if (sources.engine.kind === 'clickhouse') {
    const { createClickHouseEngine } = await import('./clickhouse.ts')
    const options = { choice: sources.engine, login: config.clickhouse, asOf, now: clock, lastCredible, reread }
    return { engine: createClickHouseEngine({ ...common, ...options }), archive, lastCredible, found }
  }
  if (reread.length > 0) {
    throw new CliError(
      '--reread is for ClickHouse, whose final days are queried once; raw files are read again when they change',
    )
  }
  const options = { ...common, linkFolder: join(folder, 'inputs'), scratchFolder: folder }
  return { engine: createDuckDbEngine(options), archive, lastCredible, found }
}

function checkEngine({ engine }: PipelineConfig, { engine: { kind } }: Sources): void {
  if (engine === undefined || engine === kind) return
  throw new CliError(
    engine === 'clickhouse'
      ? 'ENGINE is clickhouse, but the sources file does not say which: add "engine": {"clickhouse": {"url": …, "view": …}}'
      : `ENGINE is ${engine}, but the sources file names ${kind} as its engine; unset ENGINE, or remove "engine" and list "sources"`,
  )
}

/** Removes the sample from the state when other logs are read for the first time. */
export async function leaveSample({ database, publicDir }: Workspace, archive: Archive): Promise<void> {
  const kind = await kindOfChain(publicDir, await readIndex(publicDir))
  const isOver = kind === 'synthetic' || (kind === 'empty' && (await isStateOfSample(database, archive)))
  if (isOver) await forgetSample(database, archive)
}

/** Fills the rollup, and collects excluded records, usage of keys and hashes of files. */
export async function readRecords(
  engine: RollupEngine,
  sources: Sources,
  { account, usage, inputs }: { account: Account; usage?: KeySpendLedger; inputs?: Input[] },
  { report }: Effects,
): Promise<void> {
  report({ kind: 'stage', stage: 'read' })
  await engine.rollup({
    sources,
    onProgress: (progress) => report({ kind: 'progress', ...progress }),
    onStage: (stage) => report({ kind: 'done', ...stage }),
    onExcluded: (records) => account.add(records),
    onRejectedInFile: (records) => account.addFile(records),
    onCompared: (records) => account.addCompared(records),
    onReadingNote: (note) => account.addNote(note),
    onNoRequestIds: (without) => account.addWithoutIds(without),
    onRowsOfSums: ({ rows, rejected }) => account.addRowsOfSums(Number(rows), Number(rejected)),
    onKeySpend: (row) => usage?.add(row),
    onOldCounts: (counted) => account.addOldCounts(counted),
    onInput: (input) => inputs?.push(input),
    onNotice: (message) => report({ kind: 'notice', message }),
    onNews: (message) => report({ kind: 'notice', message, isNews: true }),
  })
}
