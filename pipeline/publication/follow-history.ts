import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, isThere, readTextIfAny } from '../base/files.ts'
import { counted } from '../base/numbers.ts'
import {
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { type HistoryReleases, HistoryTable, readHistoryReleases } from '../release/history-table.ts'
import { standingEntries } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import type { NextTree } from './next-tree.ts'
import type { PublicFolder } from './public-folder.ts'
import { HISTORY_REMEDY, historyPaths, proveInHistory } from './retention.ts'
import { verifyHistoryRows } from './verify-history-table.ts'

/**
 * Stages the history of all releases that stand, unless the published one is that already. Throws `BuildError` for a damaged
 * history, or if a dropped release would be missing.
 */
export async function followHistory(
  tree: NextTree,
  index: ReleaseIndex,
  current: Manifest,
  database: Database,
): Promise<void> {
  const standing = standingEntries(index)
  const known = await publishedHistory(tree, index, database)
  const count = standing.filter(({ release }) => known?.releases.includes(release)).length
  const isSame = known?.releases.length === count && standing.length === count
  if (isSame && (await isThere(tree.pathOf(HISTORY_PATHS.csv)))) return
  await checkKnown(tree, index, known, database)
  const table = await openTable(tree, known, standing.slice(0, count), database)
  await addReleases(table, standing.slice(count), tree)
  const places = { parquet: await tree.reserve(HISTORY_PATHS.parquet), csv: await tree.reserve(HISTORY_PATHS.csv) }
  const { files, publicDir } = tree.folder
  const releases = { releases: standing.map(({ release }) => release), entry: standing.at(-1)?.hash ?? '' }
  await table.write(places, releases, current, { files, published: join(publicDir, HISTORY_PATHS.csv) })
  const newest = standing.at(-1)
  if (newest !== undefined) await proveInHistory(database, historyPaths(tree), newest)
  await files.write(notePath(tree.folder), (await hashFile(places.parquet)).sha256)
}

/**
 * Only the history has the rows of dropped releases, so a build must not carry damaged ones on. If the file is not the one
 * that was written here, proves all its releases: that takes two seconds for a year.
 */
async function checkKnown(
  tree: NextTree,
  { releases }: ReleaseIndex,
  known: HistoryReleases | undefined,
  database: Database,
): Promise<void> {
  if (known === undefined || !releases.some(({ dropped }) => dropped)) return
  const path = tree.pathOf(HISTORY_PATHS.parquet)
  if ((await hashFile(path)).sha256 === (await readTextIfAny(notePath(tree.folder)))) return
  const entries = releases.filter(({ release }) => known.releases.includes(release))
  await verifyHistoryRows(database, path, entries)
}

/** The checksum of the history that was written last. */
function notePath({ stateDir }: PublicFolder): string {
  return join(stateDir, 'history.sha256')
}

/** The published history, if it can be gone on from. */
async function publishedHistory(
  tree: NextTree,
  index: ReleaseIndex,
  database: Database,
): Promise<HistoryReleases | undefined> {
  const history = await withRemedy(() => readHistoryReleases(database, tree.pathOf(HISTORY_PATHS.parquet)))
  return history !== undefined && mayGoOn(history, index) ? history : undefined
}

/** Whether a history is of this chain, which may use the names of another one, and has all that stands up to its end. */
function mayGoOn({ releases, entry }: HistoryReleases, index: ReleaseIndex): boolean {
  const newest = releases.at(-1) ?? ''
  const isOfChain = index.releases.some(({ release, hash }) => release === newest && hash === entry)
  return isOfChain && standingEntries(index).every(({ release }) => release > newest || releases.includes(release))
}

async function openTable(
  tree: NextTree,
  known: HistoryReleases | undefined,
  standing: readonly ReleaseEntry[],
  database: Database,
): Promise<HistoryTable> {
  if (known === undefined || standing.length === 0) return HistoryTable.empty(database)
  const table = await withRemedy(() => HistoryTable.read(database, tree.pathOf(HISTORY_PATHS.parquet)))
  if (standing.length < known.releases.length) await table.keep(standing.map(({ release }) => release))
  return table
}

/** Adds releases to the history of those before them. Tells the progress of more than one. */
async function addReleases(table: HistoryTable, added: readonly ReleaseEntry[], tree: NextTree): Promise<void> {
  const { report } = tree.folder
  for (const [position, { release, dropped }] of added.entries()) {
    if (dropped) throw lost(tree.pathOf(HISTORY_PATHS.parquet), release)
    const folder = tree.pathOf(releasePath(release))
    await table.add(folder, await readManifest(folder))
    if (added.length > 1) report({ kind: 'progress', stage: 'history', share: (position + 1) / added.length })
  }
  if (added.length > 1) report({ kind: 'done', stage: 'history', detail: `${counted(added.length, 'release')} added` })
}

async function withRemedy<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    throw new BuildError(`${error.message}; ${HISTORY_REMEDY}`, { cause: error })
  }
}

function lost(path: string, release: ReleaseName): BuildError {
  return new BuildError(
    `${path} does not have the rows of release ${release}, whose data files were dropped; restore it from a backup`,
  )
}
