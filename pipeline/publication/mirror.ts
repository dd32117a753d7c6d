import { hash } from 'node:crypto'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readChecksums } from '../base/checksums.ts'
import { BuildError, reasonOf } from '../base/errors.ts'
import { namesIn, readIfAny, readTextIfAny, statsIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { isCoding, withCoded } from '../contract/codings.ts'
import { DATASET_PATH, type ReleaseEntry, ReleaseIndex, releasePath } from '../contract/manifest.ts'
import {
  API_PAGE_PATH,
  CATALOG_FILE,
  COVERAGE_PATH,
  INDEX_PATH,
  isSignatureFile,
  LATEST_PATH,
  POINTER_PATH,
  publishedPath,
  SIGNATURE_FILES,
  SIGNED_LIST,
  SIGNED_SITE,
} from '../contract/published-paths.ts'
import { DATA_FILES, MANIFEST_FILE } from '../contract/release-files.ts'
import { currentEntry, standingReleases } from '../release/index.ts'
import type { RemoteFiles } from './http-client.ts'
import type { Entry } from './publication.ts'
import { releasedEntries } from './released-entries.ts'
import { isSafe } from './verify-listed.ts'

const AT_ONCE = 12

/**
 * Downloads the files that follow from the releases, and all that a signed list has, except immutable ones already in
 * `folder`. Returns the listed files that the host answers in its own way. Throws `BuildError` for the first failure.
 */
export async function mirrorSite(
  remote: RemoteFiles,
  folder: string,
  onProgress: (share: number) => void,
): Promise<string[]> {
  const index = await fetchIndex(remote, folder)
  for (const entry of index.releases) await removeGone(folder, entry)
  const manifests = standingReleases(index).map((release) => `${releasePath(release)}/${MANIFEST_FILE}`)
  // What is fetched here is not fetched again below, where it could be that of another release.
  const first = new Set([INDEX_PATH, COVERAGE_PATH, ...manifests])
  await sideBySide([COVERAGE_PATH, ...manifests], (path) => fetchEntry(remote, folder, { path }), AT_ONCE)
  const entries = await releasedEntries(folder)
  const wanted = entries.filter(({ path, target, codes }) => (target ?? codes) === undefined && !first.has(path))
  // The list says how much there is to fetch.
  await sideBySide(SIGNATURE_FILES, (path) => fetchEntry(remote, folder, { path, isOptional: true }), AT_ONCE)
  const list = readChecksums((await readTextIfAny(join(folder, SIGNED_LIST))) ?? '')
  const listed = listedOnly(list, new Set([...first, ...wanted.map(({ path }) => path)]))
  const others = wanted.filter(({ path }) => !isSignatureFile(path))
  const all = [...others, ...listed]
  let done = 0
  const fetchNext = async (entry: Entry) => {
    await fetchListed(remote, folder, entry)
    done += 1
    onProgress(done / all.length)
  }
  await sideBySide(all, fetchNext, AT_ONCE)
  await linkLatest(folder, index)
  return await ownAnswers(folder, list)
}

/** The files of a signed list that are not fetched otherwise: pages, their assets and a publisher's own files. */
function listedOnly(list: ReadonlyMap<string, string>, fetched: ReadonlySet<string>): Entry[] {
  const paths = [...list.keys()].filter((path) => isSafe(path) && !path.startsWith(`${LATEST_PATH}/`))
  const others = paths.filter((path) => !fetched.has(path))
  // Not every host serves compressed forms as files.
  return others.map((path) => ({ path, isOptional: isCoding(path) || path === API_PAGE_PATH }))
}

/** A server has a page of its own about the API. */
async function ownAnswers(folder: string, list: ReadonlyMap<string, string>): Promise<string[]> {
  const isOther = async (path: string) =>
    list.has(path) && hash('sha256', (await readIfAny(join(folder, path))) ?? '') !== list.get(path)
  return (await sideBySide(withCoded(API_PAGE_PATH), async (path) => ((await isOther(path)) ? [path] : []))).flat()
}

/** The texts of the files that change with every release. While they are equal, no release was published. */
export async function readPointers(remote: RemoteFiles): Promise<string> {
  const paths = [COVERAGE_PATH, INDEX_PATH, POINTER_PATH, CATALOG_FILE]
  const found = await sideBySide(paths, (path) => remote.readIfAny(path))
  const texts = [...found, await remote.readOptional(SIGNED_SITE)].map((bytes) => bytes?.toString() ?? null)
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

/** An earlier attempt may have fetched a release that has since been withdrawn or dropped. */
async function removeGone(folder: string, { release, status, dropped }: ReleaseEntry): Promise<void> {
  const place = join(folder, releasePath(release))
  if (status === 'withdrawn') await rm(place, { recursive: true, force: true })
  else if (dropped) for (const name of DATA_FILES) await rm(join(place, name), { force: true })
}

/** Days and months of another chain have the same names. */
async function isOfAnotherChain(path: string, { releases }: ReleaseIndex): Promise<boolean> {
  const text = await readTextIfAny(path)
  return text !== undefined && ReleaseIndex.parse(JSON.parse(text)).releases[0]?.hash !== releases[0]?.hash
}

async function fetchEntry(remote: RemoteFiles, folder: string, { path, bytes, isOptional }: Entry): Promise<void> {
  const isImmutable = publishedPath(path).cache !== 'pointer' && isOptional !== true
  if (isImmutable && (await statsIfAny(join(folder, path))) !== undefined) return
  const found = isOptional === true ? await remote.readOptional(path, bytes) : await remote.read(path, bytes)
  if (found === undefined) await rm(join(folder, path), { force: true })
  else await save(folder, path, found)
}

/** A list that was made to harm may have names that do not fit together, such as a folder with the name of a file. */
async function fetchListed(remote: RemoteFiles, folder: string, entry: Entry): Promise<void> {
  try {
    await fetchEntry(remote, folder, entry)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_PLACE.has(String(error.code)))) throw error
    throw new BuildError(`${remote.urlOf(entry.path)} has no place beside other listed files: ${reasonOf(error)}`)
  }
}

const NO_PLACE = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'])

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
