import { join } from 'node:path'
import { Archive } from './archive.ts'
import type { PipelineConfig } from './config.ts'
import type { UtcDate } from './contract/utc-date.ts'
import type { Effects } from './effects.ts'
import { readTextIfAny } from './files.ts'
import type { Account } from './quality.ts'
import { createDuckDbEngine } from './rollup/duckdb.ts'
import type { RollupEngine } from './rollup/engine.ts'
import { KeptFiles } from './rollup/kept.ts'
import { SAMPLE_DEFAULTS } from './sample/options.ts'
import { writeSample } from './sample/write.ts'
import { readSources, type Sources } from './sources.ts'
import type { UsageLedger } from './usage.ts'
import type { Workspace } from './workspace.ts'

const DEFAULT_SOURCES = 'data/sources.json'

/** The named sources file, or the default one; undefined where there is neither. */
export async function namedSources({ sources }: PipelineConfig): Promise<Sources | undefined> {
  if (sources !== undefined) return readSources(sources)
  return (await readTextIfAny(DEFAULT_SOURCES)) === undefined ? undefined : readSources(DEFAULT_SOURCES)
}

/** The sources that a maintainer named or, where there are none, the synthetic sample, written to `sampleFolder`. */
export async function chooseSources(
  config: PipelineConfig,
  sampleFolder: string,
  lastDate: UtcDate,
  effects: Effects,
): Promise<{ sources: Sources; synthetic: boolean }> {
  const sources = await namedSources(config)
  if (sources !== undefined) return { sources, synthetic: false }
  effects.report({ kind: 'notice', message: `there is no ${DEFAULT_SOURCES}: building from SYNTHETIC sample data` })
  const { sourcesFile } = await writeSample({ folder: sampleFolder, lastDay: lastDate, ...SAMPLE_DEFAULTS }, effects)
  return { sources: await readSources(sourcesFile), synthetic: true }
}

/** The engine that sums the raw files, and the archive that stands in for those that are gone, both proven. */
export async function openEngine(
  { database, stateDir, archiveDir, keptDir, folder }: Workspace,
  { files, signal }: Effects,
): Promise<{ engine: RollupEngine; archive: Archive }> {
  const archive = await Archive.open(archiveDir)
  const kept = await KeptFiles.open({ stateDir, keptDir, database, files })
  const [linkFolder, rejectsFolder] = [join(folder, 'inputs'), join(stateDir, 'rejects')]
  const engine = createDuckDbEngine({ database, linkFolder, rejectsFolder, archive, kept, files, signal })
  return { engine, archive }
}

/** Has the engine fill the rollup; what is no part of it goes into the account, what keys used into the ledger, what it was made of into `inputs`. */
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
    onKeyUsage: (row) => usage?.add(row),
    onInput: (sha256) => inputs?.push(sha256),
    onNotice: (message) => report({ kind: 'notice', message }),
  })
}
