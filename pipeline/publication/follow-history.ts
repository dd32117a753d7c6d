import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import type { Manifest, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { releasePath } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { type HistoryReleases, HistoryTable, readHistoryReleases } from '../release/history-table.ts'
import { standingEntries } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import type { NextTree } from './next-tree.ts'

/** Stages the history of all releases that stand, unless the published one is that already. */
export async function followHistory(
  tree: NextTree,
  index: ReleaseIndex,
  current: Manifest,
  database: Database,
): Promise<void> {
  const path = tree.pathOf(HISTORY_PATHS.parquet)
  const known = fromSameChain(index, await readHistoryReleases(database, path))
  const standing = standingEntries(index)
  const releases = standing.map(({ release }) => release)
  const newest = known?.releases.at(-1) ?? ''
  const kept = known?.releases.filter((release) => releases.includes(release)) ?? []
  const added = standing.filter(({ release }) => release > newest)
  const isKnown = kept.length === known?.releases.length
  if (isKnown && added.length === 0) return
  const table = kept.length === 0 ? await HistoryTable.empty(database) : await HistoryTable.read(database, path)
  if (kept.length > 0 && !isKnown) await table.keep(kept)
  for (const { release, dropped } of added) {
    if (dropped) throw lost(path, release)
    const folder = tree.pathOf(releasePath(release))
    await table.add(folder, await readManifest(folder))
  }
  const places = { parquet: await tree.reserve(HISTORY_PATHS.parquet), csv: await tree.reserve(HISTORY_PATHS.csv) }
  await table.write(places, { releases, entry: standing.at(-1)?.hash ?? '' }, current, tree.folder.files)
}

/** A new chain may use the names of another one, but not its hashes. */
function fromSameChain({ releases }: ReleaseIndex, known: HistoryReleases | undefined): HistoryReleases | undefined {
  const isHere = releases.some(({ release, hash }) => release === known?.releases.at(-1) && hash === known.entry)
  return isHere ? known : undefined
}

function lost(path: string, release: ReleaseName): BuildError {
  return new BuildError(
    `${path} does not have the rows of release ${release}, whose data files were dropped; restore it from a backup`,
  )
}
