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
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import { INDEX_PATH } from '../contract/published-paths.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { DataFile } from '../contract/release-files.ts'
import { TOMBSTONE_FILE, Tombstone, tombstoneOf } from '../contract/tombstone.ts'
import { standingReleases, withStatus } from '../release/index.ts'
import { readBack } from '../release/read-back.ts'
import { strayFiles, verifyFile } from './compare.ts'
import type { NextTree } from './next-tree.ts'
import { releaseEntries } from './publication.ts'

/** Removed last, because it identifies the revisions to remove. */
const LAST_FILE = 'rankings-daily.parquet' satisfies DataFile

export function withTombstone(index: ReleaseIndex, { release, withdrawn_at, reason }: Tombstone): ReleaseIndex {
  const releases = index.releases.map((entry): ReleaseEntry => {
    return entry.release === release ? { ...entry, status: 'withdrawn', withdrawal: { withdrawn_at, reason } } : entry
  })
  return withStatus({ ...index, releases })
}

/** Marks every release that has a tombstone as withdrawn. */
export async function markWithdrawn(publicDir: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const tombstones = await sideBySide(index.releases, (entry) => readTombstone(publicDir, entry))
  return tombstones.filter((tombstone) => tombstone !== undefined).reduce(withTombstone, index)
}

/** Removes withdrawn releases and the revisions only they had. `LAST_FILE` goes last: rerun after a stop. */
export async function removeWithdrawn(tree: NextTree, index: ReleaseIndex, database: Database): Promise<void> {
  for (const { release, withdrawal } of index.releases) {
    if (withdrawal === undefined) continue
    const place = releasePath(release)
    const names = (await namesIn(join(tree.folder.publicDir, place))).filter((name) => name !== TOMBSTONE_FILE)
    const isLast = (name: string) => name === LAST_FILE
    const revisions = names.some(isLast) ? await revisionsOf(tree, release, standingReleases(index), database) : []
    const files = [...names.filter((name) => !isLast(name)).sort(), ...names.filter(isLast)]
    for (const path of [...revisions, ...files.map((name) => `${place}/${name}`)]) await tree.remove(path, 'leftovers')
  }
}

/** Throws `BuildError` unless a withdrawn release has its tombstone and nothing else. */
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
  if (text === toJson(tombstoneOf(entry, tombstone))) return tombstone
  throw new BuildError(`${path} is not the tombstone of release ${entry.release} that the index lists`)
}

/** By folder of revisions, such as `daily/2026-11-19`. */
type Holdings = Map<string, ContentHash>

async function revisionsOf(
  tree: NextTree,
  release: ReleaseName,
  standing: readonly ReleaseName[],
  database: Database,
): Promise<string[]> {
  const holdingsOf = async (name: ReleaseName) =>
    holdings(await readBack(database, tree.pathOf(releasePath(name)), LAST_FILE))
  const orphans = await holdingsOf(release)
  // Newest first: it shares the most rows with the withdrawn release, usually the newest too.
  for (const name of standing.toReversed()) {
    if (orphans.size === 0) return []
    for (const [period, hash] of await holdingsOf(name)) if (orphans.get(period) === hash) orphans.delete(period)
  }
  const paths = await sideBySide([...orphans], async ([period, hash]) => {
    const folder = `${DATASET_PATH}/${period}`
    const files = await namesIn(join(tree.folder.publicDir, folder))
    const own: string[] = []
    for (const name of files.filter((each) => each.endsWith('.csv'))) {
      const { sha256 } = await hashFile(join(tree.folder.publicDir, folder, name))
      const stem = name.slice(0, -'csv'.length)
      // The CSV goes last: the next build uses it to find leftovers.
      if (`sha256:${sha256}` === hash)
        own.push(...['json', 'parquet', 'csv'].map((format) => `${folder}/${stem}${format}`))
    }
    return own
  })
  return paths.flat()
}

function holdings(rows: readonly RankingRow[]): Holdings {
  const periods = [
    ...Map.groupBy(rows, ({ date }) => `daily/${date}`),
    ...Map.groupBy(rows, ({ date }) => `monthly/${date.slice(0, 7)}`),
  ]
  return new Map(periods.map(([period, own]) => [period, contentHash(own)]))
}
