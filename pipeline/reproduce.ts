import { mkdir, symlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { verifyChecksums } from './base/checksums.ts'
import type { PipelineConfig } from './base/config.ts'
import type { Database } from './base/database.ts'
import type { Effects } from './base/effects.ts'
import { BuildError, CliError } from './base/errors.ts'
import { hashFile, namesIn } from './base/files.ts'
import { sideBySide } from './base/side-by-side.ts'
import { prepare } from './build.ts'
import { CHANGES_FILES, type TableChanges } from './contract/change-log.ts'
import { ruleOf } from './contract/disclosure.ts'
import {
  DATASET_PATH,
  DATES_WITHDRAWN,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from './contract/manifest.ts'
import type { Provenance } from './contract/provenance.ts'
import { isDataFile, MANIFEST_FILE } from './contract/release-files.ts'
import type { Table } from './contract/tables.ts'
import { mostRecentCompletedDay, type UtcDate } from './contract/utc-date.ts'
import { readChanges, tableChanges } from './dataset/change-log.ts'
import { changedFacts, compareRows, type DateChange } from './dataset/changes.ts'
import { firstDates } from './dataset/first-dates.ts'
import { releaseEntries } from './publication/publication.ts'
import { type ReleaseDraft, stageDraft } from './publication/release-draft.ts'
import { isSampleFolder } from './raw/sample/folder.ts'
import { SAMPLE_DEFAULTS, type SampleOptions } from './raw/sample/options.ts'
import { writeSample } from './raw/sample/write.ts'
import { readSources, type Sources } from './raw/sources.ts'
import { controlBefore } from './release/disclosure-control.ts'
import { type DraftChanges, describeChanges } from './release/draft-changes.ts'
import { type FrozenSources, freezeSources } from './release/freeze-sources.ts'
import { currentEntry, readIndex } from './release/index.ts'
import { publicHashes } from './release/input-names.ts'
import { type Input, inputListPath, type KeptFacts, numbered, readFacts } from './release/inputs.ts'
import { readCoverage } from './release/ledger.ts'
import { readProvenance } from './release/provenance.ts'
import { compareProvenance, type ProvenanceDifferences } from './release/provenance-differences.ts'
import { readBack } from './release/read-back.ts'
import { loadRelease, readManifest } from './release/verify.ts'
import { defaultSources, namedSources, openEngine } from './rollup/intake.ts'
import { type Workspace, withScratch } from './rollup/workspace.ts'

export interface Reproduction {
  release: ReleaseName
  equal: boolean
  files: { path: string; comparison: FileComparison }[]
  dates: DateChange[]
  /** Differences in inputs and tools. */
  provenance: ProvenanceDifferences
  left_out: string[]
}

/** `not_made`: only the published release has the file. `not_published`: only the reproduced one has it. */
export type FileComparison = 'equal' | 'differs' | 'not_made' | 'not_published'

interface Original {
  publicDir: string
  entry: ReleaseEntry
  folder: string
  manifest: Manifest
  provenance: Provenance
  index: ReleaseIndex
  /** Folder of the previous release. Undefined for a first release or if the previous one was withdrawn. */
  previous: string | undefined
  isPreviousWithdrawn: boolean
}

/**
 * Reproduces a release (default: the current one) from the inputs in its provenance, without changing anything. Throws
 * `CliError` for an unknown or withdrawn one, `BuildError` for a damaged or unreproducible one.
 */
export async function reproduce(config: PipelineConfig, effects: Effects, name?: ReleaseName): Promise<Reproduction> {
  const original = await findOriginal(resolve(config.publicDir), name)
  await verifyChecksums(original.folder, { mayLack: original.entry.dropped ? isDataFile : undefined })
  return withScratch(config, effects, (workspace) => makeAgain(original, config, workspace, effects), {
    knowsNothing: true,
  })
}

async function findOriginal(publicDir: string, name: ReleaseName | undefined): Promise<Original> {
  const { releases, ...rest } = await readIndex(publicDir)
  const entry =
    name === undefined ? currentEntry({ releases, ...rest }) : releases.find(({ release }) => release === name)
  if (entry === undefined) {
    throw new CliError(
      `there is no release ${name ?? ''} in ${publicDir}; releases/index.json lists those that there are`,
    )
  }
  if (entry.status === 'withdrawn') {
    throw new CliError(`release ${entry.release} was withdrawn: nothing is left of it to compare with`)
  }
  if (entry.changed?.includes(DATES_WITHDRAWN)) {
    throw new CliError(`release ${entry.release} was made of published rows when dates were taken out, not of records`)
  }
  const pathOf = ({ path }: Pick<ReleaseEntry, 'path'>) => join(publicDir, DATASET_PATH, path)
  const folder = pathOf(entry)
  const manifest = await readManifest(folder)
  const earlier = releases.slice(0, releases.indexOf(entry))
  const previous = manifest.changes.previous ?? undefined
  const isPreviousWithdrawn = releases.some(({ release, status }) => release === previous && status === 'withdrawn')
  return {
    publicDir,
    entry,
    folder,
    manifest,
    isPreviousWithdrawn,
    provenance: await provenanceIn(folder, manifest),
    index: { ...rest, releases: earlier },
    previous: previous && !isPreviousWithdrawn ? pathOf({ path: `releases/${previous}/` }) : undefined,
  }
}

async function makeAgain(
  original: Original,
  config: PipelineConfig,
  workspace: Workspace,
  effects: Effects,
): Promise<Reproduction> {
  const { folder, manifest, provenance } = original
  const { synthetic, publisher, concept_doi: conceptDoi } = manifest
  const sources = await sourcesOf(manifest, config, workspace.folder, effects)
  if (ruleOf(manifest.disclosure) !== undefined && sources.disclosure === 'none') {
    throw new CliError(
      `release ${manifest.release} was made under a disclosure rule, and the sources file says "disclosure": "none", so ` +
        'that nobody reads whose usage records are; name a sources file without that as SOURCES',
    )
  }
  const facts = await factsOf(original, config, effects)
  const listed = facts?.inputs
  const frozen = await freeze(sources, listed, manifest, workspace, effects)
  const asOf = new Date(manifest.as_of)
  const lastCredible = provenance.last_credible_date ?? facts?.last_credible_date
  const published = await readBack(workspace.database, folder, 'daily')
  const control = await controlBefore(
    { manifest, rows: published },
    { dataDir: config.dataDir, secret: workspace.secret },
  )
  const intake = { config, asOf, sources: frozen.sources, synthetic, publisher, conceptDoi, lastCredible, control }
  const prepared = await prepare(workspace, await openEngine(workspace, intake, effects), intake, effects)
  const { draft } = prepared
  const made = join(workspace.folder, releasePath(manifest.release))
  const again = await stageAgain(original, draft, made, workspace.database, effects)
  const files = await compareFiles(original, workspace.folder, again)
  return {
    release: manifest.release,
    equal: files.every(({ comparison }) => comparison === 'equal'),
    files,
    dates: compareRows(published, draft.ranking.rows).dates,
    provenance: compareProvenance(
      provenance,
      await provenanceIn(made, again),
      listed && { first: numbered(listed), second: numbered(draft.ingredients.inputs) },
    ),
    left_out: frozen.excluded,
  }
}

async function stageAgain(
  original: Original,
  draft: ReleaseDraft,
  folder: string,
  database: Database,
  { files, report }: Effects,
): Promise<Manifest> {
  await files.makeFolder(folder)
  if (original.isPreviousWithdrawn) {
    const message = 'the previous release was withdrawn: its changes are taken as published and are not verified'
    report({ kind: 'notice', message })
  }
  const changed = original.isPreviousWithdrawn
    ? await changesAsPublished(original, database)
    : await changesMadeAgain(original, draft, database)
  return stageDraft(draft, { changed, folder }, database, files)
}

async function changesAsPublished({ folder, manifest }: Original, database: Database): Promise<DraftChanges> {
  const { data_version, changes } = manifest
  const read = (table: Table) => readChanges(database, join(folder, CHANGES_FILES[table]), table)
  const rows: TableChanges = {
    daily: await read('daily'),
    weekly: await read('weekly'),
    monthly: await read('monthly'),
  }
  return { facts: { data_version, changes }, rows }
}

async function changesMadeAgain(
  { publicDir, manifest, index, previous }: Original,
  draft: ReleaseDraft,
  database: Database,
): Promise<DraftChanges> {
  const { rows, periods } = draft.ranking
  const current = previous === undefined ? undefined : await loadRelease(database, previous)
  const { reason, note } = manifest.changes
  const isFirst = firstDates(await readCoverage(publicDir), manifest)
  const facts = changedFacts(current?.manifest, draft.manifest, rows)
  const explanation = { reason, note }
  return describeChanges(
    { index, current: current?.manifest, facts, explanation, isFirst },
    tableChanges(current, { rows, periods }),
  )
}

async function sourcesOf(
  manifest: Manifest,
  config: PipelineConfig,
  scratch: string,
  effects: Effects,
): Promise<Sources> {
  const { synthetic, as_of, release } = manifest
  if (!synthetic) {
    const sources = await namedSources(config)
    if (sources !== undefined) return sources
    throw new CliError(
      `there is no ${defaultSources(config)}; name the sources file that ${release} was made from as SOURCES`,
    )
  }
  const lastDay = mostRecentCompletedDay(new Date(as_of))
  if (config.sources !== undefined && (await isSampleFolder(dirname(config.sources))))
    return readSources(config.sources)
  const days = { from: resolve(config.dataDir, 'raw/sample'), to: join(scratch, 'sample'), lastDay }
  const { sourcesFile } = await writeSample(await linkedDays(days), effects)
  return readSources(sourcesFile)
}

interface SampleDays {
  from: string
  to: string
  lastDay: UtcDate
}

/** Missing day files of the sample are generated again with equal content. */
async function linkedDays({ from, to, lastDay }: SampleDays): Promise<SampleOptions> {
  for (const source of await namesIn(from)) {
    const days = (await namesIn(join(from, source))).filter((name) => name.slice(0, 10) <= lastDay)
    if (days.length === 0) continue
    await mkdir(join(to, source), { recursive: true })
    for (const day of days) await symlink(join(from, source, day), join(to, source, day))
  }
  return { ...SAMPLE_DEFAULTS, folder: to, lastDay }
}

/** What is known of the inputs of the release; undefined if nothing lists them. */
async function factsOf(
  { provenance, entry: { release } }: Original,
  { dataDir }: PipelineConfig,
  { report }: Effects,
): Promise<KeptFacts | undefined> {
  const path = inputListPath(resolve(dataDir), release)
  const facts = await readFacts(path, provenance.inputs)
  if (facts === undefined) {
    const message = `there is no ${path}, which lists what the release was made from: all that the sources have now is read`
    report({ kind: 'notice', message })
  }
  return facts
}

async function freeze(
  sources: Sources,
  inputs: readonly Input[] | undefined,
  { disclosure }: Manifest,
  workspace: Workspace,
  effects: Effects,
): Promise<FrozenSources> {
  if (inputs === undefined) return { sources, excluded: [] }
  const { nameOf } = await publicHashes(sources, ruleOf(disclosure) !== undefined, workspace)
  return freezeSources(sources, inputs, nameOf, effects)
}

/**
 * Compares the bytes of each file of the published release below `publicDir` and of the one made below `root`. Of files
 * that were dropped, the checksums are listed.
 */
async function compareFiles(
  { publicDir, entry: { dropped, ...entry }, manifest }: Original,
  root: string,
  made: Manifest,
): Promise<Reproduction['files']> {
  const entriesOf = (each: Manifest) => new Map(releaseEntries(entry, each).map(({ path, sha256 }) => [path, sha256]))
  const [published, reproduced] = [entriesOf(manifest), entriesOf(made)]
  const compare = async (path: string): Promise<FileComparison> => {
    if (!reproduced.has(path)) return 'not_made'
    if (!published.has(path)) return 'not_published'
    const isGone = dropped === true && isDataFile(basename(path))
    const sha256 = isGone ? published.get(path) : (await hashFile(join(publicDir, path))).sha256
    return (await hashFile(join(root, path))).sha256 === sha256 ? 'equal' : 'differs'
  }
  const paths = [...new Set([...published.keys(), ...reproduced.keys()])].sort()
  return sideBySide(paths, async (path) => ({ path: basename(path), comparison: await compare(path) }))
}

async function provenanceIn(folder: string, manifest: Manifest): Promise<Provenance> {
  const provenance = await readProvenance(folder, manifest)
  if (provenance === undefined) throw new BuildError(`${join(folder, MANIFEST_FILE)} lists no provenance`)
  return provenance
}
