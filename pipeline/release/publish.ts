import { dirname, join } from 'node:path'
import { assertSealed, CHECKSUMS_FILE } from '../checksums.ts'
import {
  DATASET_PATH,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { type Files, hashFile, namesIn, readTextIfAny } from '../files.ts'
import { followReleases, readRestatements } from '../history/follow.ts'
import { renderApi } from '../site/api.ts'
import { renderCatalog } from '../site/catalog.ts'
import { renderFeeds } from '../site/feeds.ts'
import type { Page } from '../site/layout.ts'
import { MANIFEST_FILE, toJson } from './files.ts'
import { appendRelease, currentEntry, INDEX_FILE, readIndex, standingReleases, toPointer, withStatus } from './index.ts'
import { isFolder } from './move.ts'
import { followPages } from './pages.ts'
import { type PublicFolder, replace, replaceLink, STAGING_FOLDER } from './replace.ts'
import { markWithdrawn, removeWithdrawn, verifyTombstone } from './tombstone.ts'
import { readManifest } from './verify.ts'

/**
 * Makes the public folder consistent after a build that was stopped anywhere. A release is made when its folder is in
 * place: one that is there and whole is followed by all that has to follow it, and what is less than that is removed.
 * One is withdrawn when its tombstone is in place: then all follows the release before it, and its files go.
 * Returns the history.
 */
export async function recover(folder: PublicFolder, database: Database): Promise<ReleaseIndex> {
  const { publicDir, files } = folder
  await closeStaging(publicDir, files)
  let index = await readIndex(publicDir)
  const name = await unlisted(publicDir, index)
  if (name !== undefined) index = await adopt(folder, name, index)
  index = await markWithdrawn(publicDir, index)
  await follow(folder, index, database)
  await removeWithdrawn(folder, index, database)
  await closeStaging(publicDir, files)
  return index
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
  return grow(publicDir, name, index)
}

async function grow(publicDir: string, name: ReleaseName, index: ReleaseIndex): Promise<ReleaseIndex> {
  const path = join(publicDir, releasePath(name))
  const { sha256 } = await hashFile(join(path, MANIFEST_FILE))
  return appendRelease(index, await readManifest(path), sha256)
}

/** An empty folder to put a release together in. */
export async function openStaging(publicDir: string, files: Files): Promise<string> {
  await files.remove(join(publicDir, STAGING_FOLDER))
  const folder = join(publicDir, STAGING_FOLDER, 'release')
  await files.makeFolder(folder)
  return folder
}

/** Removes what a build has put together, if anything is left of it. */
export async function closeStaging(publicDir: string, files: Files): Promise<void> {
  await files.remove(join(publicDir, STAGING_FOLDER))
}

/** Publishes a staged and verified release: puts its folder in place, and lets all else follow. */
export async function publish(
  folder: PublicFolder,
  staged: { path: string; release: ReleaseName },
  index: ReleaseIndex,
  database: Database,
): Promise<ReleaseIndex> {
  const { publicDir, files } = folder
  const place = join(publicDir, releasePath(staged.release))
  await files.makeFolder(dirname(place))
  await files.rename(staged.path, place)
  const grown = await grow(publicDir, staged.release, index)
  await follow(folder, grown, database)
  return grown
}

/**
 * Lets everything follow the releases that are in place, in the order of DESIGN.md §5: days and months, the index, the
 * pages, the pointers, the catalogue, the feeds. What is as it should be is left alone; each step replaces one name at
 * once, and after a stop between two of them the same again mends it.
 */
async function follow(folder: PublicFolder, releases: ReleaseIndex, database: Database): Promise<void> {
  const index = withStatus(releases)
  const entry = currentEntry(index)
  if (entry === undefined) return
  const { publicDir, dataDir } = folder
  await followReleases(folder, standingReleases(index), database)
  await replace(folder, join(DATASET_PATH, INDEX_FILE), toJson(index))
  const path = join(publicDir, releasePath(entry.release))
  const manifest = await readManifest(path)
  const api = await renderApi(path, manifest, dataDir)
  await followPages(folder, { manifest, index }, database)
  await replaceAll(folder, api)
  await replaceLink(folder, join(DATASET_PATH, 'latest'), `releases/${entry.release}`)
  await replace(folder, join(DATASET_PATH, 'latest.json'), toJson(toPointer(entry)))
  const { restatements } = await readRestatements(publicDir)
  await replaceAll(folder, [renderCatalog(manifest, entry, api), ...renderFeeds(manifest, index, restatements)])
}

async function replaceAll(folder: PublicFolder, pages: readonly Page[]): Promise<void> {
  for (const { path, text } of pages) await replace(folder, path, text)
}
