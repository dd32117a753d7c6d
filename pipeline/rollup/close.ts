import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { UsageError } from '../base/errors.ts'
import { provisionalFrom } from '../contract/manifest.ts'
import { type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import { Account } from '../dataset/quality.ts'
import { assertFewRejected } from '../dataset/records.ts'
import { isObjectUrl } from '../raw/objects/object.ts'
import type { Sources } from '../raw/sources.ts'
import { type Archive, archiveStaging, type ClosedSource } from './archive.ts'
import type { RollupEngine } from './engine.ts'
import {
  chooseSources,
  defaultSources,
  isSynthetic,
  leaveSample,
  namedSources,
  openEngine,
  readRecords,
  withObjects,
} from './intake.ts'
import { withScratch, withWorkspace } from './workspace.ts'

export interface CloseOptions {
  /** The first date that is not archived. */
  before: UtcDate
  /** Only report what would be archived. */
  dryRun?: boolean
}

/** A raw file with archived records. */
export interface RawFile {
  source: string
  file: string
  /** Its path, or the URL of an object. */
  path: string
}

/** The result of `tokenboard archive`. */
export interface CloseSummary {
  outcome: 'archived' | 'unchanged' | 'would_archive'
  before: UtcDate
  as_of: Timestamp
  records: number
  sources: ClosedSource[]
  /** Raw files whose records are all archived, except those without a date. */
  deletable_files: RawFile[]
  /** Raw files with `records_left` records that are not archived. */
  needed_files: (RawFile & { records_left: number })[]
  /** The new part of the archive, if any. */
  path?: string
}

/**
 * Archives all dates before `before`, so that their raw files may be deleted. Reads like a build but publishes nothing;
 * a stop leaves the archive unchanged. Throws `UsageError` if a date is not final or sources are wrong, `BuildError`
 * for input that a build would not publish.
 */
export async function closeDates(
  config: PipelineConfig,
  effects: Effects,
  { before, dryRun = false }: CloseOptions,
): Promise<CloseSummary> {
  const now = config.asOf ?? effects.now()
  const asOf = toTimestamp(now)
  assertFinal(before, asOf)
  if (!dryRun) await assertNotSynthetic(config)
  const withFolders = dryRun ? withScratch : withWorkspace
  return withFolders(config, effects, async (workspace) => {
    const { database, archiveDir, folder } = workspace
    const { files, signal, report } = effects
    const named = await namedSources(config)
    const synthetic = await isSynthetic(named)
    const yesterday = mostRecentCompletedDay(now)
    const chosen = await chooseSources({ named, synthetic, config }, join(folder, 'sample'), yesterday, effects)
    const sources = await withObjects(chosen, workspace, config, effects)
    const { engine, archive } = await openEngine(workspace, { config, sources, asOf: now, synthetic }, effects)
    if (!synthetic) await leaveSample(workspace, archive)
    await bringUpToDate(database, engine, sources, effects)
    const names = sources.origins.map(({ name }) => name)
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
      report({ kind: 'done', stage: 'archive', detail: `${records} records, sealed` })
      return { outcome: 'archived', ...summary, path }
    } finally {
      await files.remove(staging)
    }
  })
}

function assertFinal(before: UtcDate, asOf: Timestamp): void {
  const latest = provisionalFrom(asOf)
  if (before <= latest) return
  throw new UsageError(
    `the dates from ${latest} on may still change as of ${asOf}; give --before ${latest} or an earlier date`,
  )
}

async function assertNotSynthetic(config: PipelineConfig): Promise<void> {
  const named = await namedSources(config)
  if (!(await isSynthetic(named))) return
  const found = named === undefined ? `there is no ${defaultSources(config)}` : `${named.folder} holds the sample`
  throw new UsageError(
    `${found}, and the synthetic sample is not archived: name your own logs there or in ` +
      'SOURCES, or add --dry-run to try',
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
  assertFewRejected(Number(counted?.records) + account.total, account, sources.max_rejected_share)
}

/** Splits the existing raw files into those needed and those deletable once the dates are archived. */
async function sortFiles(
  database: Database,
  archive: Archive,
  { sources, folder }: Sources,
  before: UtcDate,
): Promise<Pick<CloseSummary, 'deletable_files' | 'needed_files'>> {
  const all: CloseSummary['needed_files'] = []
  for (const { name } of sources) {
    for (const { file, records_left } of await archive.filesOf(database, name, before)) {
      all.push({ source: name, file, path: isObjectUrl(file) ? file : resolve(folder, file), records_left })
    }
  }
  return {
    deletable_files: all
      .filter(({ records_left }) => records_left === 0)
      .map(({ source, file, path }) => ({ source, file, path })),
    needed_files: all.filter(({ records_left }) => records_left > 0),
  }
}
