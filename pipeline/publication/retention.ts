import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { namesIn } from '../base/files.ts'
import { type ReleaseEntry, type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { isDataFile } from '../contract/release-files.ts'
import type { Retention } from '../contract/retention.ts'
import { TABLES } from '../contract/tables.ts'
import { hashIn } from '../release/index.ts'
import { hashesInHistory } from '../release/read-back.ts'
import type { NextTree } from './next-tree.ts'

export const HISTORY_REMEDY =
  'restore the file from a backup, or delete it if all releases have their data files, and make build writes it again'

/** Throws `CliError` if the setting names a release that does not exist: the one that was meant would be dropped. */
export function checkRetention({ releases }: ReleaseIndex, { keep }: Retention): void {
  const unknown = keep.find((name) => !releases.some(({ release }) => release === name))
  if (unknown !== undefined) throw new CliError(`"retention" keeps release ${unknown}, which does not exist`)
}

/** The releases whose data files go now: of those that will stand, oldest first, the ones that still have theirs. */
export function toDrop(
  { releases }: ReleaseIndex,
  standing: readonly ReleaseName[],
  { keep_releases, keep }: Retention,
): ReleaseName[] {
  if (keep_releases === 'all') return []
  const gone = new Set(releases.filter(({ dropped }) => dropped).map(({ release }) => release))
  const old = standing.slice(0, -keep_releases).filter((name) => !keep.includes(name))
  return old.filter((name) => !gone.has(name))
}

/**
 * Removes the data files of dropped releases at the end of the switch. Run it again after a stop. Throws `BuildError` if
 * the staged history does not have the rows of one: no file is gone then.
 */
export async function removeDropped(tree: NextTree, { releases }: ReleaseIndex, database: Database): Promise<void> {
  const { publicDir, report } = tree.folder
  const paths = historyPaths(tree)
  const found = releases.filter(({ dropped }) => dropped).map((entry) => ({ entry, place: releasePath(entry.release) }))
  const named = await Promise.all(
    found.map(async (each) => ({ ...each, names: await namesIn(join(publicDir, each.place)) })),
  )
  const left = named.filter(({ names }) => names.some(isDataFile))
  for (const [position, { entry, place, names }] of left.entries()) {
    await proveInHistory(database, paths, entry)
    for (const name of names.filter(isDataFile).sort()) await tree.remove(`${place}/${name}`, 'leftovers')
    if (left.length > 1) report({ kind: 'progress', stage: 'drop', share: (position + 1) / left.length })
  }
}

/** Where the next history is, and the published one, from which it follows. */
export function historyPaths(tree: NextTree): { path: string; published: string } {
  return {
    path: tree.pathOf(HISTORY_PATHS.parquet),
    published: join(tree.folder.publicDir, HISTORY_PATHS.parquet),
  }
}

/**
 * Throws `BuildError` unless the history at `path` has the rows of a release: those of its hashes in the index. The error names
 * the published one.
 */
export async function proveInHistory(
  database: Database,
  { path, published = path }: { path: string; published?: string },
  entry: ReleaseEntry,
): Promise<void> {
  const { release } = entry
  const found = await hashesInHistory(database, path, release)
  for (const table of TABLES) {
    const listed = hashIn(entry, table)
    if (found[table] === listed) continue
    throw new BuildError(
      `${published} has ${found[table]} as the ${table} rows of release ${release}, but the index says ${listed}; ${HISTORY_REMEDY}`,
    )
  }
}
