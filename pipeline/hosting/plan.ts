import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { type ReleaseIndex, releasePath } from '../contract/manifest.ts'
import {
  INDEX_PATH,
  LATEST_PATH,
  PAGE_FOLDERS,
  PERIOD_FOLDERS,
  publishedPath,
  releaseOfPath,
  STEPS,
} from '../contract/published-paths.ts'
import { isDataFile, MANIFEST_FILE } from '../contract/release-files.ts'
import type { Bucket } from './bucket.ts'
import { type LocalFile, md5Of } from './local-file.ts'

/** What a bucket has, by path. */
export type Objects = Awaited<ReturnType<Bucket['list']>>

/** What has to be done to a bucket. */
export interface Plan {
  /** In the order of a switch: the files of a group, when those of the groups before are there. */
  uploads: LocalFile[][]
  /** Paths among the uploads at which the bucket has other bytes. */
  replaced: string[]
  /** What a withdrawal or the retention took from the public folder. */
  withdrawn: string[]
  /** Other objects that the public folder does not have. */
  strays: string[]
}

export interface PlanOptions {
  files: readonly LocalFile[]
  objects: Objects
  index: ReleaseIndex
  bucket: Pick<Bucket, 'sha256Of'>
  /** Whether to upload what is there already, too. */
  isAgain?: boolean
  /** Whether to delete what is left of another chain. */
  isNewChain?: boolean
  signal?: AbortSignal
}

/** Compares the public folder with a bucket. */
export async function planUploads(options: PlanOptions): Promise<Plan> {
  const { files, objects, index, bucket, isAgain = false, isNewChain = false, signal } = options
  const known = new Set(files.map(({ path }) => path))
  const isThere = await sideBySide(
    files,
    (file) => {
      signal?.throwIfAborted()
      return isSame(file, objects, bucket)
    },
    SMALL_FILES_AT_ONCE,
  )
  const changed = files.filter((_, position) => isThere[position] !== true)
  const wanted = isAgain ? files : changed
  const mark = objects.has(INDEX_PATH) ? undefined : wanted.find(isManifestIn(index))
  const groups = Map.groupBy(wanted, (file) => (file === mark ? 'mark' : groupOf(file, objects)))
  const others = [...objects.keys()].filter((path) => !known.has(path) && !isHidden(path)).sort()
  const isGone = isNewChain ? isOfChain : withdrawnIn(index)
  return {
    uploads: ['mark', 'unnamed', 'pages', ...STEPS].flatMap((group) => {
      const ofGroup = groups.get(group)
      return ofGroup === undefined ? [] : [ofGroup]
    }),
    replaced: wanted.map(({ path }) => path).filter((path) => objects.has(path)),
    withdrawn: others.filter(isGone),
    strays: others.filter((path) => !isGone(path)),
  }
}

/** By a manifest, a later run knows a bucket that has no index yet: see `verifySameSite`. */
function isManifestIn({ releases }: ReleaseIndex): (file: LocalFile) => boolean {
  const paths = new Set(releases.map(({ release }) => `${releasePath(release)}/${MANIFEST_FILE}`))
  return ({ path }) => paths.has(path)
}

/** The ETag is the MD5 of the bytes unless the service encrypts them or took them in parts. */
async function isSame(file: LocalFile, objects: Objects, bucket: Pick<Bucket, 'sha256Of'>): Promise<boolean> {
  const object = objects.get(file.path)
  if (object === undefined || object.bytes !== file.bytes) return false
  if (object.etag === (await md5Of(file)).toString('hex')) return true
  return (await bucket.sha256Of(file.path)) === file.sha256
}

/**
 * Nothing leads to files that never change, and to the page of a new release, until the pointers do. Pages are many, and no
 * program goes by them: between the first pointer and the last there should be as little as possible.
 */
function groupOf({ path }: LocalFile, objects: Objects): string {
  const { cache, step, readers } = publishedPath(path)
  const isNewOfRelease = releaseOfPath(path) !== undefined && !objects.has(path)
  if (cache !== 'pointer' || isNewOfRelease) return 'unnamed'
  return readers === 'people' ? 'pages' : step
}

/** Hidden objects are not of the site: they are neither compared nor deleted. */
export function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'))
}

/** Folders that only have files of releases that are there. */
const CURRENT_FOLDERS = [LATEST_PATH]

/** Folders whose files are made from the rows of releases. */
const FOLDERS_OF_ROWS = [...PERIOD_FOLDERS, ...PAGE_FOLDERS]

/** Whether a chain of releases has such a path. */
function isOfChain(path: string): boolean {
  const folders = [...CURRENT_FOLDERS, ...FOLDERS_OF_ROWS]
  return releaseOfPath(path) !== undefined || folders.some((folder) => path.startsWith(`${folder}/`))
}

/**
 * Whether a path that the public folder does not have was taken from it on purpose. After a withdrawal, revisions and pages
 * that are gone may have rows of the withdrawn release.
 */
function withdrawnIn({ releases }: ReleaseIndex): (path: string) => boolean {
  const byName = new Map(releases.map((entry) => [entry.release, entry]))
  const hasWithdrawn = releases.some(({ status }) => status === 'withdrawn')
  return (path) => {
    const { status, dropped } = byName.get(releaseOfPath(path) ?? '') ?? {}
    if (status === 'withdrawn' || CURRENT_FOLDERS.some((folder) => path.startsWith(`${folder}/`))) return true
    if (dropped) return isDataFile(path.slice(path.lastIndexOf('/') + 1))
    return hasWithdrawn && FOLDERS_OF_ROWS.some((folder) => path.startsWith(`${folder}/`))
  }
}
