import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { namesIn, readTextIfAny, statsIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { Coverage } from '../contract/history.ts'
import {
  DATASET_PATH,
  Manifest,
  type ReleaseEntry,
  ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import {
  CATALOG_FILE,
  COVERAGE_PATH,
  INDEX_PATH,
  LATEST_PATH,
  POINTER_PATH,
  publishedPath,
} from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { periodsOf } from '../dataset/coverage.ts'
import { currentEntry } from '../release/index.ts'
import type { RemoteFiles } from './http-client.ts'
import { type Entry, releasedEntries } from './publication.ts'

const AT_ONCE = 12

/** Downloads listed files, except immutable ones already in `folder`. Throws `BuildError` for the first failure. */
export async function mirrorSite(
  remote: RemoteFiles,
  folder: string,
  onProgress: (share: number) => void,
): Promise<void> {
  const index = await fetchIndex(remote, folder)
  const { standing = [], withdrawn = [] } = Object.groupBy(index.releases, ({ status }) =>
    status === 'withdrawn' ? 'withdrawn' : 'standing',
  )
  // An earlier attempt may have fetched a release that has since been withdrawn.
  for (const { release } of withdrawn) await rm(join(folder, releasePath(release)), { recursive: true, force: true })
  const manifests = await sideBySide(standing, (entry) => fetchManifest(remote, folder, entry), AT_ONCE)
  const coverage = await fetchCoverage(remote, folder, index)
  // Fetched already; a second fetch could return those of another release.
  const isNew = ({ path, target }: Entry) => target === undefined && path !== INDEX_PATH && path !== COVERAGE_PATH
  const wanted = releasedEntries({ index, coverage, manifests: new Map(manifests) }).filter(isNew)
  let done = 0
  const fetchNext = async (entry: Entry) => {
    await fetchEntry(remote, folder, entry)
    done += 1
    onProgress(done / wanted.length)
  }
  await sideBySide(wanted, fetchNext, AT_ONCE)
  await linkLatest(folder, index)
}

/** The texts of the files that change with every release. While they are equal, no release was published. */
export async function readPointers(remote: RemoteFiles): Promise<string> {
  const paths = [COVERAGE_PATH, INDEX_PATH, POINTER_PATH, CATALOG_FILE]
  const texts = await sideBySide(paths, async (path) => (await remote.readIfAny(path))?.toString() ?? null)
  return JSON.stringify(texts)
}

async function fetchIndex(remote: RemoteFiles, folder: string): Promise<ReleaseIndex> {
  const path = INDEX_PATH
  const bytes = await remote.readIfAny(path)
  if (bytes === undefined) {
    throw new BuildError(`there is no ${remote.urlOf(path)}; give the address of the folder that is published`)
  }
  const index = parseJson(ReleaseIndex, bytes.toString(), remote.urlOf(path), BuildError)
  if (await isOfAnotherChain(join(folder, path), index)) await rm(join(folder, DATASET_PATH), { recursive: true })
  await save(folder, path, bytes)
  return index
}

/** Days and months of another chain have the same names. */
async function isOfAnotherChain(path: string, { releases }: ReleaseIndex): Promise<boolean> {
  const text = await readTextIfAny(path)
  return text !== undefined && ReleaseIndex.parse(JSON.parse(text)).releases[0]?.hash !== releases[0]?.hash
}

async function fetchManifest(
  remote: RemoteFiles,
  folder: string,
  { release }: ReleaseEntry,
): Promise<[ReleaseName, Manifest]> {
  const path = `${releasePath(release)}/${MANIFEST_FILE}`
  await fetchEntry(remote, folder, { path })
  const text = await readFile(join(folder, path), 'utf8')
  const manifest = parseJson(Manifest, text, remote.urlOf(path), BuildError)
  if (manifest.release === release) return [release, withoutDots(manifest)]
  throw new BuildError(`${remote.urlOf(path)} is the manifest of ${manifest.release}`)
}

/** The manifest schema allows these names, but no release has them. */
function withoutDots(manifest: Manifest): Manifest {
  return { ...manifest, files: manifest.files.filter(({ path }) => path !== '.' && path !== '..') }
}

async function fetchCoverage(remote: RemoteFiles, folder: string, { releases }: ReleaseIndex): Promise<Coverage> {
  const path = COVERAGE_PATH
  const bytes = await remote.read(path)
  await save(folder, path, bytes)
  const coverage = parseJson(Coverage, bytes.toString(), remote.urlOf(path), BuildError)
  // A withdrawal publishes the rows of the previous release again, so up to two revisions per release.
  const wrong = periodsOf(coverage).find(({ revision }) => (revision ?? 0) > 2 * releases.length)
  if (wrong === undefined) return coverage
  throw new BuildError(
    `${remote.urlOf(path)} tells of ${wrong.revision} revisions of ${wrong.name}, more than its releases can have made`,
  )
}

async function fetchEntry(remote: RemoteFiles, folder: string, { path, bytes, isOptional }: Entry): Promise<void> {
  const isImmutable = publishedPath(path).cache !== 'pointer' && isOptional !== true
  if (isImmutable && (await statsIfAny(join(folder, path))) !== undefined) return
  const found = isOptional === true ? await remote.readOptional(path, bytes) : await remote.read(path, bytes)
  if (found === undefined) await rm(join(folder, path), { force: true })
  else await save(folder, path, found)
}

/** Compares the host's `latest/`, a copy or a link, with `folder`. Throws `BuildError` for the first difference. */
export async function verifyLatest(remote: RemoteFiles, folder: string): Promise<void> {
  const release = join(folder, LATEST_PATH)
  const verifySame = async (name: string) => {
    const path = `${LATEST_PATH}/${name}`
    const [found, expected] = [await remote.read(path), await readFile(join(release, name))]
    if (!found.equals(expected)) throw new BuildError(`${remote.urlOf(path)} is not that of the newest release`)
  }
  await verifySame(MANIFEST_FILE)
  await sideBySide(await namesIn(release), verifySame, AT_ONCE)
}

async function linkLatest(folder: string, index: ReleaseIndex): Promise<void> {
  const current = currentEntry(index)
  await rm(join(folder, LATEST_PATH), { force: true })
  if (current !== undefined) await symlink(`releases/${current.release}`, join(folder, LATEST_PATH))
}

async function save(folder: string, path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), bytes)
}
