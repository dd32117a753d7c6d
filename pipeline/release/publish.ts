import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DATASET_PATH, type Manifest, type ReleaseIndex } from '../contract/manifest.ts'
import { BuildError } from '../errors.ts'
import { type Files, hashFile, isMissing, linkTarget, namesIn, readTextIfAny } from '../files.ts'
import { renderSite } from '../site/render.ts'
import { MANIFEST_FILE, toJson } from './files.ts'
import { appendRelease, INDEX_FILE, readIndex, toPointer } from './index.ts'
import { readManifest } from './verify.ts'

/** Below `PUBLIC_DIR`: where a release is put together, out of sight, on the file system where it will stand. */
const STAGING_FOLDER = '.staging'

/**
 * Makes the public folder consistent after a build that was stopped anywhere: unfinished releases are removed, and a
 * release that is in the index but not yet current becomes current. Returns the history.
 */
export async function recover(publicDir: string, files: Files): Promise<ReleaseIndex> {
  const index = await readIndex(publicDir)
  await closeStaging(publicDir, files)
  for (const name of await unfinished(publicDir, index)) {
    await files.remove(join(publicDir, DATASET_PATH, 'releases', name))
  }
  await pointToLatest(publicDir, index, files)
  await closeStaging(publicDir, files)
  return index
}

/**
 * The release that a stopped build had put in place but not into the index: at most one, later than every other, and
 * not yet pointed to. Anything else that the index does not know was published: then the index is what is wrong.
 */
async function unfinished(publicDir: string, index: ReleaseIndex): Promise<string[]> {
  const dataset = join(publicDir, DATASET_PATH)
  const known = new Set(['index.json', ...index.releases.map((entry) => entry.release)])
  const unknown = (await namesIn(join(dataset, 'releases'))).filter((name) => !known.has(name)).sort()
  const latest = await readTextIfAny(join(dataset, 'latest.json'))
  const isDebris = (name: string) => name > (index.releases.at(-1)?.release ?? '') && !latest?.includes(name)
  if (unknown.length <= 1 && unknown.every(isDebris)) return unknown
  throw new BuildError(
    `${join(dataset, INDEX_FILE)} does not list ${unknown.join(', ')}, which ${dataset} holds; ` +
      'releases are never removed: restore the index from a backup, or take away by hand what does not belong there',
  )
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

/**
 * Publishes a staged and verified release, in the order of DESIGN.md §5: the release, the index, the pages, the
 * pointers. Each step replaces one name at once, and a stop between two of them is mended by `recover`.
 */
export async function publish(
  staging: string,
  manifest: Manifest,
  index: ReleaseIndex,
  publicDir: string,
  files: Files,
): Promise<ReleaseIndex> {
  const dataset = join(publicDir, DATASET_PATH)
  const { sha256 } = await hashFile(join(staging, MANIFEST_FILE))
  await files.makeFolder(join(dataset, 'releases'))
  await files.rename(staging, join(dataset, 'releases', manifest.release))
  const grown = appendRelease(index, manifest, sha256)
  await replace(files, publicDir, join(DATASET_PATH, INDEX_FILE), toJson(grown))
  await pointToLatest(publicDir, grown, files)
  return grown
}

/** Renders the pages of the newest release and makes it current; what is as it should be is left alone. */
async function pointToLatest(publicDir: string, index: ReleaseIndex, files: Files): Promise<void> {
  const entry = index.releases.at(-1)
  if (entry === undefined) return
  const dataset = join(publicDir, DATASET_PATH)
  const folder = join(dataset, 'releases', entry.release)
  for (const page of await renderSite(folder, await readManifest(folder))) {
    await replace(files, publicDir, page.path, page.text)
  }
  await replaceLink(files, publicDir, join(DATASET_PATH, 'latest'), `releases/${entry.release}`)
  await replace(files, publicDir, join(DATASET_PATH, 'latest.json'), toJson(toPointer(entry)))
}

/** Writes a file out of sight and moves it over the old one, so that a reader sees the one or the other. */
async function replace(files: Files, publicDir: string, path: string, text: string): Promise<void> {
  if ((await readTextIfAny(join(publicDir, path))) === text) return
  const next = join(publicDir, STAGING_FOLDER, 'next')
  await files.makeFolder(dirname(next))
  await files.write(next, text)
  await files.makeFolder(dirname(join(publicDir, path)))
  await files.rename(next, join(publicDir, path))
}

async function replaceLink(files: Files, publicDir: string, path: string, target: string): Promise<void> {
  if ((await linkTarget(join(publicDir, path))) === target) return
  const next = join(publicDir, STAGING_FOLDER, 'next')
  await files.makeFolder(dirname(next))
  await files.remove(next)
  await files.link(target, next)
  // A copy that followed links left a folder there, which a rename would not replace.
  if (await isFolder(join(publicDir, path))) await files.remove(join(publicDir, path))
  await files.rename(next, join(publicDir, path))
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
