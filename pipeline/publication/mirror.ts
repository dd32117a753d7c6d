import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CHECKSUMS_FILE } from '../base/checksums.ts'
import { BuildError } from '../base/errors.ts'
import { namesIn, readTextIfAny, statsIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { Coverage } from '../contract/history.ts'
import { DATASET_PATH, Manifest, type ReleaseEntry, ReleaseIndex, releasePath } from '../contract/manifest.ts'
import {
  API_FILES,
  CATALOG_FILE,
  COVERAGE_FILE,
  COVERAGE_PATH,
  FEED_FILES,
  INDEX_PATH,
  LATEST_PATH,
  METADATA_FILES,
  PERIOD_FORMATS,
  POINTER_PATH,
  RESTATEMENTS_PATH,
} from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { TOMBSTONE_FILE } from '../contract/tombstone.ts'
import { periodsOf } from '../dataset/coverage.ts'
import { currentEntry } from '../release/index.ts'
import type { RemoteFiles } from './http-client.ts'
import { pointerPath, revisionPath } from './revisions.ts'

/** Files are fetched this many at a time: most are small, and the way is long. */
const AT_ONCE = 12

/** A file to be fetched. One that never changes need not be fetched twice. */
interface Wanted {
  path: string
  isImmutable: boolean
  /** Whether the host may have none: a superseded revision may have gone with a release that was withdrawn. */
  isOptional?: boolean
  /** How many bytes it may have at most. */
  limit?: number
}

/**
 * Copies what a host publishes into a folder: every file that the index, the manifests and the coverage tell of, so that
 * it can be proved as if it had been built there; the link to the current release is made. What never changes and is in
 * the folder already stays. Throws `BuildError` that names the first file that is missing or does not come.
 */
export async function mirrorSite(
  remote: RemoteFiles,
  folder: string,
  onProgress: (share: number) => void,
): Promise<void> {
  const index = await fetchIndex(remote, folder)
  const { standing = [], withdrawn = [] } = Object.groupBy(index.releases, ({ status }) =>
    status === 'withdrawn' ? 'withdrawn' : 'standing',
  )
  // A release that was withdrawn since an earlier attempt has left its files here.
  for (const { release } of withdrawn) await rm(join(folder, releasePath(release)), { recursive: true, force: true })
  const manifests = await sideBySide(standing, (entry) => fetchManifest(remote, folder, entry), AT_ONCE)
  const coverage = await fetchCoverage(remote, folder)
  const wanted = [
    ...manifests.flatMap((manifest) => filesOf(manifest)),
    ...withdrawn.map(({ release }) => pointer(`${releasePath(release)}/${TOMBSTONE_FILE}`)),
    ...filesOfPeriods(coverage, index),
    ...[RESTATEMENTS_PATH, POINTER_PATH, CATALOG_FILE, ...Object.values(FEED_FILES)].map(pointer),
    ...[...Object.values(API_FILES), ...METADATA_FILES].map(pointer),
  ]
  let done = 0
  const fetchNext = async (file: Wanted) => {
    await fetchFile(remote, folder, file)
    done += 1
    onProgress(done / wanted.length)
  }
  await sideBySide(wanted, fetchNext, AT_ONCE)
  await linkLatest(folder, index)
}

/** The hashes and names that change with every release: as long as they are the same, no release came. */
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

/** Whether an index that was fetched before is of another chain: its days and months have the same names. */
async function isOfAnotherChain(path: string, { releases }: ReleaseIndex): Promise<boolean> {
  const text = await readTextIfAny(path)
  return text !== undefined && ReleaseIndex.parse(JSON.parse(text)).releases[0]?.hash !== releases[0]?.hash
}

async function fetchManifest(remote: RemoteFiles, folder: string, { release }: ReleaseEntry): Promise<Manifest> {
  const path = `${releasePath(release)}/${MANIFEST_FILE}`
  await fetchFile(remote, folder, { path, isImmutable: true })
  const text = await readFile(join(folder, path), 'utf8')
  const manifest = parseJson(Manifest, text, remote.urlOf(path), BuildError)
  if (manifest.release === release) return manifest
  throw new BuildError(`${remote.urlOf(path)} is the manifest of ${manifest.release}`)
}

async function fetchCoverage(remote: RemoteFiles, folder: string): Promise<Coverage> {
  const path = COVERAGE_PATH
  const bytes = await remote.read(path)
  await save(folder, path, bytes)
  return parseJson(Coverage, bytes.toString(), remote.urlOf(path), BuildError)
}

function filesOf({ release, files }: Manifest): Wanted[] {
  const place = releasePath(release)
  // The form of a manifest allows such names, and no release has them.
  const listed = files.filter(({ path }) => path !== '.' && path !== '..')
  return [
    { path: `${place}/${CHECKSUMS_FILE}`, isImmutable: true },
    ...listed.map(({ path, bytes }) => ({ path: `${place}/${path}`, isImmutable: true, limit: bytes })),
  ]
}

/**
 * The revisions of days and months, and the pointer files of those that have rows. Where a release was withdrawn,
 * superseded revisions may have gone with it: the proof says which have to be there.
 */
function filesOfPeriods(coverage: Coverage, { releases }: ReleaseIndex): Wanted[] {
  const hasGaps = releases.some(({ status }) => status === 'withdrawn')
  return periodsOf(coverage).flatMap(({ folder, name, revision, content_hash }) => {
    const newest = revision ?? 0
    // A withdrawal has the rows of the release before published once more.
    if (newest > 2 * releases.length) {
      throw new BuildError(
        `${COVERAGE_FILE} tells of ${newest} revisions of ${name}, more than its releases can have made`,
      )
    }
    const revisions = Array.from({ length: newest }, (_, position) => position + 1)
    const isOptional = (number: number) => hasGaps && (number < newest || content_hash === null)
    return PERIOD_FORMATS[folder].flatMap((form) => [
      ...revisions.map((number) => ({
        path: `${DATASET_PATH}/${revisionPath({ folder, name, revision: number }, form)}`,
        isImmutable: !isOptional(number),
        isOptional: isOptional(number),
      })),
      ...(content_hash === null ? [] : [pointer(`${DATASET_PATH}/${pointerPath({ folder, name }, form)}`)]),
    ])
  })
}

function pointer(path: string): Wanted {
  return { path, isImmutable: false }
}

async function fetchFile(remote: RemoteFiles, folder: string, wanted: Wanted): Promise<void> {
  const { path, isImmutable, isOptional = false, limit } = wanted
  if (isImmutable && (await statsIfAny(join(folder, path))) !== undefined) return
  const bytes = isOptional ? await remote.readOptional(path, limit) : await remote.read(path, limit)
  if (bytes === undefined) await rm(join(folder, path), { force: true })
  else await save(folder, path, bytes)
}

/**
 * Compares what stands under `latest/` file by file with the current release of a folder that was fetched and proved: a
 * host may have a copy in the place of the link. Throws `BuildError` that names the first file that is another.
 */
export async function proveLatest(remote: RemoteFiles, folder: string): Promise<void> {
  const release = join(folder, LATEST_PATH)
  const proveSame = async (name: string) => {
    const path = `${LATEST_PATH}/${name}`
    const [found, expected] = [await remote.read(path), await readFile(join(release, name))]
    if (!found.equals(expected)) throw new BuildError(`${remote.urlOf(path)} is not that of the newest release`)
  }
  await proveSame(MANIFEST_FILE)
  await sideBySide(await namesIn(release), proveSame, AT_ONCE)
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
