import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Archive } from './archive.ts'
import { checkRanking } from './checks.ts'
import type { PipelineConfig } from './config.ts'
import { DATASET_PATH, type Manifest, Publisher, type ReleaseIndex } from './contract/manifest.ts'
import { type Timestamp, toTimestamp } from './contract/ranking.ts'
import { DATASET_START, mostRecentCompletedDay, type UtcDate } from './contract/utc-date.ts'
import type { Database } from './database.ts'
import type { Effects } from './effects.ts'
import { BuildError, UsageError } from './errors.ts'
import { readTextIfAny, replaceFile } from './files.ts'
import { parseJson } from './json.ts'
import { Account } from './quality.ts'
import { type Ranking, rank } from './rank.ts'
import {
  assertFewRejected,
  countRecords,
  nothingToPublish,
  outsideDays,
  publicQuality,
  type RecordCounts,
} from './records.ts'
import { toJson } from './release/files.ts'
import { closeStaging, openStaging, publish, recover } from './release/publish.ts'
import { type Draft, draftRelease, stageRelease } from './release/stage.ts'
import { readManifest, verifyRelease } from './release/verify.ts'
import { createDuckDbEngine } from './rollup/duckdb.ts'
import type { RollupEngine } from './rollup/engine.ts'
import { KeptFiles } from './rollup/kept.ts'
import { SAMPLE_DEFAULTS } from './sample/options.ts'
import { writeSample } from './sample/write.ts'
import { readSources, type Sources } from './sources.ts'
import { UsageLedger, writeUsage } from './usage.ts'
import { type Workspace, withWorkspace } from './workspace.ts'

const DEFAULT_SOURCES = 'data/sources.json'

/** What a build did. For `unchanged` the facts are those of the release that stays current. */
export interface BuildSummary {
  outcome: 'released' | 'unchanged'
  release: string
  as_of: Timestamp
  synthetic: boolean
  start_date: UtcDate
  end_date: UtcDate
  days: number
  models: number
  rows: number
  total_tokens: string
  content_hash: string
  records: RecordCounts
  path: string
}

/**
 * Builds the dataset from its sources: ingest -> rollup -> rank -> checks -> release. A stop at any moment leaves the
 * release before current. Throws `UsageError` for wrong settings and sources, `BuildError` for input that cannot be
 * published.
 */
export async function build(config: PipelineConfig, effects: Effects): Promise<BuildSummary> {
  const asOf = config.asOf ?? effects.now()
  const lastDate = mostRecentCompletedDay(asOf)
  if (lastDate < DATASET_START) {
    throw new UsageError(`AS_OF ${toTimestamp(asOf)} is before the dataset begins, ${DATASET_START}`)
  }
  return withWorkspace(config, effects, async (workspace) => {
    const { database, stateDir, publicDir } = workspace
    const { files } = effects
    const index = await recover(publicDir, files)
    assertNotBefore(asOf, index)
    const { sources, synthetic } = await chooseSources(config, lastDate, effects)
    const publisher = await readPublisher(config.dataDir, synthetic, effects)
    const engine = await openEngine(workspace, effects)
    const account = new Account()
    const usage = new UsageLedger()
    const ranking = await rankSources(database, engine, sources, { account, usage }, lastDate, effects)
    const records = countRecords(ranking, account)
    const detail = toJson({ as_of: toTimestamp(asOf), records, ...account.detail, outside: outsideDays(ranking) })
    await replaceFile(files, join(stateDir, 'quality.json'), detail)
    assertFewRejected(records, account, sources.max_rejected_share)
    if (ranking.rows.length === 0) throw new BuildError(nothingToPublish(records, lastDate))
    await checkRanking(database, lastDate)
    const draft = draftRelease({ rows: ranking.rows, asOf: toTimestamp(asOf), publisher, synthetic })
    const summary = await release({ draft, ranking, account, records, index, publicDir }, database, effects)
    await writeUsage(usage, asOf, config.dataDir, files)
    return summary
  })
}

/** The engine that sums the raw files, with the archive that stands in for those that are gone. */
async function openEngine(workspace: Workspace, { files, signal }: Effects): Promise<RollupEngine> {
  const { database, stateDir, archiveDir, folder } = workspace
  const archive = await Archive.open(archiveDir)
  const kept = new KeptFiles({ stateDir, archiveDir, database, files })
  const [linkFolder, rejectsFolder] = [join(folder, 'inputs'), join(stateDir, 'rejects')]
  return createDuckDbEngine({ database, linkFolder, rejectsFolder, archive, kept, files, signal })
}

/** The named sources file, or the default one, or, where neither is, the synthetic sample. */
async function chooseSources(
  config: PipelineConfig,
  lastDate: UtcDate,
  effects: Effects,
): Promise<{ sources: Sources; synthetic: boolean }> {
  if (config.sources !== undefined) return { sources: await readSources(config.sources), synthetic: false }
  if ((await readTextIfAny(DEFAULT_SOURCES)) !== undefined) {
    return { sources: await readSources(DEFAULT_SOURCES), synthetic: false }
  }
  effects.report({ kind: 'notice', message: `there is no ${DEFAULT_SOURCES}: building from SYNTHETIC sample data` })
  const folder = resolve(config.dataDir, 'raw/sample')
  const { sourcesFile } = await writeSample({ folder, lastDay: lastDate, ...SAMPLE_DEFAULTS }, effects)
  return { sources: await readSources(sourcesFile), synthetic: true }
}

async function rankSources(
  database: Database,
  engine: RollupEngine,
  sources: Sources,
  { account, usage }: { account: Account; usage: UsageLedger },
  lastDate: UtcDate,
  { report }: Effects,
): Promise<Ranking> {
  report({ kind: 'stage', stage: 'read' })
  const rollup = engine.rollup({
    sources,
    onProgress: (progress) => report({ kind: 'progress', ...progress }),
    onStage: (stage) => report({ kind: 'done', ...stage }),
    onSetAside: (records) => account.add(records),
    onRejectedInFile: (records) => account.addFile(records),
    onKeyUsage: (row) => usage.add(row),
    onNotice: (message) => report({ kind: 'notice', message }),
  })
  const ranking = await rank(database, rollup, lastDate)
  const { published_records, models } = ranking
  report({ kind: 'done', stage: 'rank', detail: `${published_records} records of ${models} models` })
  return ranking
}

async function release(
  built: {
    draft: Draft
    ranking: Ranking
    account: Account
    records: RecordCounts
    index: ReleaseIndex
    publicDir: string
  },
  database: Database,
  { files, report, signal }: Effects,
): Promise<BuildSummary> {
  const { draft, ranking, account, records, index, publicDir } = built
  const path = (name: string) => join(publicDir, DATASET_PATH, 'releases', name)
  const latest = index.releases.at(-1)
  const current = latest === undefined ? undefined : await readManifest(path(latest.release))
  if (current !== undefined && !isChanged(current, draft, ranking)) {
    return summarize('unchanged', current, ranking, records, path(current.release))
  }
  if (current?.release === draft.release) {
    throw new BuildError(`there is already a release as of ${draft.as_of} and its data differ; give a later AS_OF`)
  }
  try {
    report({ kind: 'stage', stage: 'release' })
    const staging = await openStaging(publicDir, files)
    const quality = publicQuality(draft, records, account, ranking)
    const manifest = await stageRelease({ draft, rows: ranking.rows, quality, folder: staging }, database, files)
    await verifyRelease(database, staging)
    signal.throwIfAborted()
    await publish(staging, manifest, index, publicDir, files)
    report({
      kind: 'done',
      stage: 'release',
      detail: `${manifest.release}, ${manifest.rows} rows, every format read back`,
    })
    return summarize('released', manifest, ranking, records, path(manifest.release))
  } finally {
    await closeStaging(publicDir, files)
  }
}

/** Whether a draft says something that the current release does not (DESIGN.md §5). */
function isChanged(current: Manifest, draft: Draft, { rows }: Ranking): boolean {
  const facts = ({ content_hash, end_date, publisher, schema, version, synthetic }: Draft) =>
    JSON.stringify({ content_hash, end_date, publisher, schema, version, synthetic })
  if (facts(current) !== facts(draft)) return true
  // The rows are the same, so the days have the same status when the first provisional one is the same.
  const firstProvisional = ({ provisional_from }: Draft) => rows.find(({ date }) => date >= provisional_from)?.date
  return firstProvisional(current) !== firstProvisional(draft)
}

function assertNotBefore(asOf: Date, index: ReleaseIndex): void {
  const latest = index.releases.at(-1)
  if (latest === undefined || toTimestamp(asOf) >= latest.as_of) return
  throw new BuildError(
    `AS_OF ${toTimestamp(asOf)} is before that of the latest release, ${latest.as_of}; give a later one, or check the clock`,
  )
}

function summarize(
  outcome: BuildSummary['outcome'],
  facts: Draft,
  ranking: Ranking,
  records: RecordCounts,
  path: string,
): BuildSummary {
  const { release, as_of, synthetic, start_date, end_date, days, rows, content_hash } = facts
  const total = ranking.rows.reduce((sum, row) => sum + BigInt(row.total_tokens), 0n)
  return {
    outcome,
    release,
    as_of,
    synthetic,
    start_date,
    end_date,
    days,
    models: ranking.models,
    rows,
    total_tokens: total.toString(),
    content_hash,
    records,
    path,
  }
}

/** Who publishes: `publisher.json` of the data folder, or the one that comes with the project. */
async function readPublisher(dataDir: string, synthetic: boolean, { report }: Effects): Promise<Publisher> {
  const path = join(dataDir, 'publisher.json')
  const own = await readTextIfAny(path)
  if (own === undefined && !synthetic) {
    report({ kind: 'notice', message: `there is no ${path}: the release names a placeholder as its publisher` })
  }
  const text = own ?? (await readFile(new URL('../data/publisher.json', import.meta.url), 'utf8'))
  return parseJson(Publisher, text, path, UsageError)
}
