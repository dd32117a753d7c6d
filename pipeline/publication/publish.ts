import { join } from 'node:path'
import { assertSealed, CHECKSUMS_FILE } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, namesIn, readTextIfAny } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { isFolder } from '../base/move.ts'
import {
  DATASET_PATH,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import { INDEX_FILE, INDEX_PATH, LATEST_PATH, POINTER_PATH, RESTATEMENTS_PATH } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { TOMBSTONE_FILE, type Tombstone } from '../contract/tombstone.ts'
import type { Chain } from '../release/chain.ts'
import {
  appendRelease,
  currentEntry,
  EMPTY_INDEX,
  readIndex,
  standingReleases,
  toPointer,
  withStatus,
} from '../release/index.ts'
import { readRestatements } from '../release/ledger.ts'
import { readManifest } from '../release/verify.ts'
import { renderApi } from '../site/api.ts'
import { renderCatalog } from '../site/catalog.ts'
import { renderFeeds } from '../site/feeds.ts'
import type { Page } from '../site/layout.ts'
import { followReleases } from './follow.ts'
import { beginNewChain, readNewChain, replaceChain, resumeNewChain } from './new-chain.ts'
import { NextTree } from './next-tree.ts'
import { stagePages } from './pages.ts'
import { type PublicFolder, STAGING_FOLDER } from './public-folder.ts'
import { closeStaging } from './staging.ts'
import { markWithdrawn, removeWithdrawn, verifyTombstone, withTombstone } from './tombstone.ts'

/**
 * Makes the public folder consistent after a build that was stopped anywhere. A release is made when its folder is in
 * place: one that is there and whole is followed by all that has to follow it, and what is less than that is removed.
 * One is withdrawn when its tombstone is in place: then all follows the release before it, and its files go. A switch to
 * a new chain is completed in the same way. Returns the history.
 */
export async function recover(folder: PublicFolder, database: Database): Promise<ReleaseIndex> {
  const { publicDir, files } = folder
  const chain = await readNewChain(publicDir)
  const begun = chain && (await resumeNewChain(folder, chain))
  if (begun === undefined) await closeStaging(publicDir, files)
  const tree = begun ?? new NextTree(folder)
  const index =
    begun && chain ? await grow(join(publicDir, releasePath(chain.release)), EMPTY_INDEX) : await findIndex(folder)
  await follow(tree, index, database)
  await removeWithdrawn(folder, index, database)
  await closeStaging(publicDir, files)
  return index
}

/** The index with what a stopped build or withdrawal did that it does not tell of yet. */
async function findIndex(folder: PublicFolder): Promise<ReleaseIndex> {
  const { publicDir } = folder
  const index = await readIndex(publicDir)
  const name = await unlisted(publicDir, index)
  return markWithdrawn(publicDir, name === undefined ? index : await adopt(folder, name, index))
}

/**
 * The current release of a public folder in which nothing is under way. Throws `BuildError` where a build or a
 * withdrawal was stopped: what is there then belongs to two states.
 */
export async function assertComplete(publicDir: string): Promise<ReleaseEntry> {
  const index = await readIndex(publicDir)
  const marked = await markWithdrawn(publicDir, index)
  const isMarked = index.releases.every(({ status }, position) => status === marked.releases[position]?.status)
  const isStopped = await isFolder(join(publicDir, STAGING_FOLDER))
  const current = currentEntry(index)
  if (current === undefined || isStopped || !isMarked || (await unlisted(publicDir, index)) !== undefined) {
    throw new BuildError(`${publicDir} was left by a build that was stopped; make build completes it`)
  }
  for (const entry of index.releases) if (entry.status === 'withdrawn') await verifyTombstone(publicDir, entry)
  return current
}

/**
 * The release that a stopped build had put in place but not into the index: at most one, later than every other, and
 * not yet pointed to. Anything else that the index does not know was published: then the index is what is wrong.
 */
async function unlisted(publicDir: string, index: ReleaseIndex): Promise<ReleaseName | undefined> {
  const dataset = join(publicDir, DATASET_PATH)
  const known = new Set(['index.json', ...index.releases.map((entry) => entry.release)])
  const unknown = (await namesIn(join(dataset, 'releases'))).filter((name) => !known.has(name)).sort()
  const latest = await readTextIfAny(join(dataset, 'latest.json'))
  const isNext = (name: string) => name > (index.releases.at(-1)?.release ?? '') && !latest?.includes(name)
  if (unknown.length <= 1 && unknown.every(isNext)) return unknown[0]
  throw new BuildError(
    `${join(dataset, INDEX_FILE)} does not list ${unknown.join(', ')}, which ${dataset} holds; ` +
      'releases are never removed: restore the index from a backup, or take away by hand what does not belong there',
  )
}

/** The index with a release that it does not list yet, or as it is when what lies there is none: that is removed. */
async function adopt({ publicDir, files }: PublicFolder, name: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const path = join(publicDir, releasePath(name))
  // The checksums are written last, before the folder gets its name.
  if ((await readTextIfAny(join(path, CHECKSUMS_FILE))) === undefined) {
    await files.remove(path)
    return index
  }
  await assertSealed(path, `; ${name} was not published yet: take it away, and the next build makes it anew`)
  return grow(path, index)
}

async function grow(path: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const { sha256 } = await hashFile(join(path, MANIFEST_FILE))
  return appendRelease(index, await readManifest(path), sha256)
}

/** Publishes a staged and verified release: stages all that follows it, and switches to both in one run. */
export async function publish(
  folder: PublicFolder,
  staged: { path: string; release: ReleaseName },
  { index, replaced }: Chain,
  database: Database,
  signal: AbortSignal,
): Promise<ReleaseIndex> {
  const { release } = staged
  const isNewChain = replaced.length > 0
  const tree = new NextTree(folder, { isNewChain })
  tree.adopt(releasePath(release))
  const grown = await grow(staged.path, index)
  if (isNewChain) await replaceChain(tree, release, replaced)
  const { sha256: manifest_sha256 } = await hashFile(join(staged.path, MANIFEST_FILE))
  await follow(tree, grown, database, async () => {
    signal.throwIfAborted()
    if (isNewChain) await beginNewChain(folder, { release, manifest_sha256, replaced: [...replaced] })
  })
  await closeStaging(folder.publicDir, folder.files)
  return grown
}

/** Publishes a tombstone: the first rename withdraws its release, and all that follows from that comes with it. */
export async function publishTombstone(
  folder: PublicFolder,
  index: ReleaseIndex,
  tombstone: Tombstone,
  database: Database,
): Promise<void> {
  const tree = new NextTree(folder)
  await tree.replace(join(releasePath(tombstone.release), TOMBSTONE_FILE), toJson(tombstone))
  const marked = withTombstone(index, tombstone)
  await follow(tree, marked, database)
  await removeWithdrawn(folder, marked, database)
  await closeStaging(folder.publicDir, folder.files)
}

/** Stages everything that follows from the releases, then switches to it. `begin` comes before the first rename. */
async function follow(
  tree: NextTree,
  index: ReleaseIndex,
  database: Database,
  begin: () => Promise<void> = async () => {},
): Promise<void> {
  const notePages = await stageFollowing(tree, index, database)
  await tree.flush()
  await begin()
  await tree.commit()
  await notePages()
}

/**
 * Stages what follows from the releases: days and months, the index, the pages, the pointers, the catalogue, the feeds.
 * What is published already is left alone. Returns what notes which pages there are, once they are in place.
 */
async function stageFollowing(
  tree: NextTree,
  releases: ReleaseIndex,
  database: Database,
): Promise<() => Promise<void>> {
  const index = withStatus(releases)
  const entry = currentEntry(index)
  if (entry === undefined) return async () => {}
  await followReleases(tree, standingReleases(index), database)
  await tree.replace(INDEX_PATH, toJson(index))
  const place = releasePath(entry.release)
  const path = join(tree.rootOf(place), place)
  const manifest = await readManifest(path)
  const api = await renderApi(path, manifest, tree.folder.dataDir)
  const notePages = await stagePages(tree, { manifest, index }, database)
  await replaceAll(tree, api)
  await tree.link(LATEST_PATH, `releases/${entry.release}`)
  await tree.replace(POINTER_PATH, toJson(toPointer(entry)))
  const { restatements } = await readRestatements(tree.rootOf(RESTATEMENTS_PATH))
  await replaceAll(tree, [renderCatalog(manifest, entry, api)])
  await replaceAll(tree, renderFeeds(manifest, index, restatements))
  return notePages
}

async function replaceAll(tree: NextTree, pages: readonly Page[]): Promise<void> {
  for (const { path, text } of pages) await tree.replace(path, text)
}
