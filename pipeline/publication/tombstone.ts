import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, namesIn, readTextIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { contentHash } from '../base/text.ts'
import {
  type ContentHash,
  DATASET_PATH,
  PRIVACY,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
  type Withdrawal,
} from '../contract/manifest.ts'
import { HISTORY_PATHS, INDEX_PATH } from '../contract/published-paths.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { dataFile } from '../contract/release-files.ts'
import { TOMBSTONE_FILE, Tombstone, tombstoneOf } from '../contract/tombstone.ts'
import { readHistoryReleases } from '../release/history-table.ts'
import { standingReleases, withStatus } from '../release/index.ts'
import { readBack } from '../release/read-back.ts'
import { PAGE_FILE } from '../site/release-page.ts'
import { strayFiles, verifyFile } from './compare.ts'
import type { NextTree } from './next-tree.ts'
import { releaseEntries } from './publication.ts'

/** Marks releases as withdrawn. If they are erased, their entries lose salt and hashes. */
export function withTombstones(
  index: ReleaseIndex,
  names: readonly ReleaseName[],
  { withdrawal, isErased }: { withdrawal: Withdrawal; isErased: boolean },
): ReleaseIndex {
  const releases = index.releases.map((entry): ReleaseEntry => {
    if (!names.includes(entry.release)) return entry
    const { content_hash: _rows, manifest_sha256: _manifest, tables: _tables, salt: _salt, ...rest } = entry
    return { ...(isErased ? rest : entry), status: 'withdrawn', withdrawal }
  })
  return withStatus({ ...index, releases })
}

export function withTombstone(index: ReleaseIndex, tombstone: Tombstone): ReleaseIndex {
  const { release, withdrawn_at, reason, content_hash } = tombstone
  return withTombstones(index, [release], {
    withdrawal: { withdrawn_at, reason },
    isErased: content_hash === undefined,
  })
}

/** Marks every release that has a tombstone as withdrawn. */
export async function markWithdrawn(publicDir: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const tombstones = await sideBySide(index.releases, (entry) => readTombstone(publicDir, entry))
  return tombstones.filter((tombstone) => tombstone !== undefined).reduce(withTombstone, index)
}

/**
 * Removes withdrawn releases and the revisions only they had. The revisions go first, while the data files or the history
 * still say which they are: rerun after a stop.
 */
export async function removeWithdrawn(tree: NextTree, index: ReleaseIndex, database: Database): Promise<void> {
  const withdrawn = index.releases.filter(({ withdrawal }) => withdrawal !== undefined)
  const found = await sideBySide(withdrawn, async ({ release }) => {
    const names = (await namesIn(join(tree.folder.publicDir, releasePath(release)))).sort()
    return { release, names: names.filter((name) => name !== TOMBSTONE_FILE && name !== PAGE_FILE) }
  })
  const readable = await withRows(tree, found, database)
  const revisions = await revisionsOf(tree, readable, standingReleases(index), database)
  for (const path of revisions) await tree.remove(path, 'periods')
  for (const { release, names } of found) {
    for (const name of names) await tree.remove(`${releasePath(release)}/${name}`, 'leftovers')
  }
}

/** The withdrawn releases whose rows can still be read: from their data files, or from the published history. */
async function withRows(
  { folder }: NextTree,
  withdrawn: readonly { release: ReleaseName; names: readonly string[] }[],
  database: Database,
): Promise<ReleaseName[]> {
  const history =
    withdrawn.length > 0 && (await readHistoryReleases(database, join(folder.publicDir, HISTORY_PATHS.parquet)))
  const known = history ? history.releases : []
  const hasRows = ({ release, names }: (typeof withdrawn)[number]) =>
    names.includes(dataFile('daily', 'parquet')) || known.includes(release)
  return withdrawn.filter(hasRows).map(({ release }) => release)
}

/** Throws `BuildError` unless a withdrawn release has its tombstone and nothing else, but for a page. */
export async function verifyWithdrawn(root: string, entry: ReleaseEntry): Promise<void> {
  const entries = releaseEntries(entry, undefined)
  if (entries.length === 0)
    throw new BuildError(`${join(root, INDEX_PATH)} does not say why ${entry.release} is withdrawn`)
  for (const each of entries) await verifyFile(root, each)
  const [left] = await strayFiles(root, [releasePath(entry.release)], entries)
  if (left === undefined) return
  throw new BuildError(`${join(root, left)} is published, but its release was withdrawn; make build removes it`)
}

async function readTombstone(publicDir: string, entry: ReleaseEntry): Promise<Tombstone | undefined> {
  const path = join(publicDir, releasePath(entry.release), TOMBSTONE_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const tombstone = parseJson(Tombstone, text, path, BuildError)
  const { release, withdrawn_at, reason, content_hash } = tombstone
  const marked = withTombstones({ dataset: 'rankings-daily', releases: [entry] }, [release], {
    withdrawal: { withdrawn_at, reason },
    isErased: content_hash === undefined && reason === PRIVACY,
  })
  const [expected] = marked.releases
  if (expected !== undefined && text === toJson(tombstoneOf(expected, tombstone))) return tombstone
  throw new BuildError(`${path} is not the tombstone of release ${entry.release} that the index lists`)
}

/** Revisions by their folder, such as `daily/2026-11-19`. */
type Holdings = Map<string, Set<ContentHash>>

/** The files of the revisions that only withdrawn releases had. */
async function revisionsOf(
  tree: NextTree,
  withdrawn: readonly ReleaseName[],
  standing: readonly ReleaseName[],
  database: Database,
): Promise<string[]> {
  const holdingsOf = async (name: ReleaseName) =>
    holdings(await readBack(database, tree.pathOf(releasePath(name)), 'daily'))
  const orphans: Holdings = new Map()
  for (const name of withdrawn) {
    for (const [period, hash] of await holdingsOf(name)) {
      orphans.set(period, (orphans.get(period) ?? new Set()).add(hash))
    }
  }
  // Newest first: it shares the most rows with the withdrawn releases, usually the newest too.
  for (const name of standing.toReversed()) {
    if (orphans.size === 0) return []
    for (const [period, hash] of await holdingsOf(name)) {
      const hashes = orphans.get(period)
      hashes?.delete(hash)
      if (hashes?.size === 0) orphans.delete(period)
    }
  }
  return (await sideBySide([...orphans], ([period, hashes]) => filesOf(tree, period, hashes))).flat()
}

async function filesOf(tree: NextTree, period: string, hashes: ReadonlySet<ContentHash>): Promise<string[]> {
  const folder = `${DATASET_PATH}/${period}`
  const files = await namesIn(join(tree.folder.publicDir, folder))
  const own: string[] = []
  for (const name of files.filter((each) => each.endsWith('.csv'))) {
    const { sha256 } = await hashFile(join(tree.folder.publicDir, folder, name))
    const stem = name.slice(0, -'csv'.length)
    // The CSV goes last: the next build uses it to find leftovers.
    if (hashes.has(`sha256:${sha256}`))
      own.push(...['json', 'parquet', 'csv'].map((format) => `${folder}/${stem}${format}`))
  }
  return own
}

function holdings(rows: readonly RankingRow[]): Map<string, ContentHash> {
  const periods = [
    ...Map.groupBy(rows, ({ date }) => `daily/${date}`),
    ...Map.groupBy(rows, ({ date }) => `monthly/${date.slice(0, 7)}`),
  ]
  return new Map(periods.map(([period, own]) => [period, contentHash(own)]))
}
