import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { provisionalFrom } from '../contract/manifest.ts'
import { type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import { Account } from '../dataset/quality.ts'
import { checkRejectedShare } from '../dataset/records.ts'
import type { Sources } from '../raw/sources.ts'
import { type Archive, type ArchivedSource, archiveStaging } from './archive.ts'
import type { RollupEngine } from './engine.ts'
import {
  chooseSources,
  defaultSources,
  isSynthetic,
  leaveSample,
  namedSources,
  openEngine,
  readRecords,
} from './intake.ts'
import { withScratch, withWorkspace } from './workspace.ts'

export interface ArchiveOptions {
  before: UtcDate
  dryRun?: boolean
}

export interface RawFile {
  source: string
  file: string
  path: string
}

export interface ArchiveSummary {
  outcome: 'archived' | 'unchanged' | 'would_archive'
  before: UtcDate
  as_of: Timestamp
  records: number
  sources: ArchivedSource[]
  /** Raw files whose records are all archived, except those without a date. */
  deletable_files: RawFile[]
  /** Raw files with `records_left` records that are not archived. */
  needed_files: (RawFile & { records_left: number })[]
  path?: string
}

/**
 * Archives all dates before `before`, so that their raw files may be deleted. Reads like a build but publishes nothing;
 * a stop leaves the archive unchanged. Throws `CliError` if a date is not final or sources are wrong, `BuildError`
 * for input that a build would not publish.
 */
export async function archiveDates(
  config: PipelineConfig,
  effects: Effects,
  { before, dryRun = false }: ArchiveOptions,
): Promise<ArchiveSummary> {
  const now = config.asOf ?? effects.now()
  const asOf = toTimestamp(now)
  checkFinal(before, asOf)
  if (!dryRun) await checkNotSynthetic(config)
  const withFolders = dryRun ? withScratch : withWorkspace
  return withFolders(config, effects, async (workspace) => {
    const { database, archiveDir, folder } = workspace
    const { files, signal, report } = effects
    const named = await namedSources(config)
    const synthetic = await isSynthetic(named)
    const yesterday = mostRecentCompletedDay(now)
    const sources = await chooseSources({ named, synthetic, config }, join(folder, 'sample'), yesterday, effects)
    const { engine, archive } = await openEngine(workspace, { config, sources, asOf: now, synthetic }, effects)
    if (!synthetic) await leaveSample(workspace, archive)
    await bringUpToDate(database, engine, sources, effects)
    const names = sources.usageSources.map(({ name }) => name)
    const staging = dryRun ? join(folder, 'archive') : archiveStaging(archiveDir)
    try {
      const staged = await archive.stage({ database, files, sources: names, before, asOf, folder: staging })
      const rawFiles = await sortFiles(database, archive, sources, before)
      const records = staged.sources.reduce((sum, source) => sum + source.records, 0)
      const summary = { before, as_of: asOf, records, sources: staged.sources, ...rawFiles }
      if (records === 0) return { outcome: 'unchanged', ...summary }
      if (dryRun) return { outcome: 'would_archive', ...summary }
      signal.throwIfAborted()
      const path = await archive.add(staged, files)
      report({ kind: 'done', stage: 'archive', detail: counted(records, 'record') })
      return { outcome: 'archived', ...summary, path }
    } finally {
      await files.remove(staging)
    }
  })
}

function checkFinal(before: UtcDate, asOf: Timestamp): void {
  const latest = provisionalFrom(asOf)
  if (before <= latest) return
  throw new CliError(
    `the dates from ${latest} on may still change as of ${asOf}; give --before ${latest} or an earlier date`,
  )
}

async function checkNotSynthetic(config: PipelineConfig): Promise<void> {
  const named = await namedSources(config)
  if (!(await isSynthetic(named))) return
  const found = named === undefined ? `there is no ${defaultSources(config)}` : `${named.folder} holds the sample`
  throw new CliError(
    `${found}, and the synthetic sample is not archived: name your own logs there or in ` +
      'SOURCES, or try it with --dry-run',
  )
}

/** Updates the state. Bad input stops here as in a build: what is archived cannot be corrected. */
async function bringUpToDate(
  database: Database,
  engine: RollupEngine,
  sources: Sources,
  effects: Effects,
): Promise<void> {
  const account = new Account()
  await readRecords(engine, sources, { account }, effects)
  const [counted] = await database.rows<{ records: bigint }>('archive/counted')
  checkRejectedShare(Number(counted?.records) + account.total, account, sources.max_rejected_share)
}

async function sortFiles(
  database: Database,
  archive: Archive,
  { sources, folder }: Sources,
  before: UtcDate,
): Promise<Pick<ArchiveSummary, 'deletable_files' | 'needed_files'>> {
  const all: ArchiveSummary['needed_files'] = []
  for (const { name } of sources) {
    for (const { file, records_left } of await archive.filesOf(database, name, before)) {
      all.push({ source: name, file, path: resolve(folder, file), records_left })
    }
  }
  return {
    deletable_files: all
      .filter(({ records_left }) => records_left === 0)
      .map(({ source, file, path }) => ({ source, file, path })),
    needed_files: all.filter(({ records_left }) => records_left > 0),
  }
}
