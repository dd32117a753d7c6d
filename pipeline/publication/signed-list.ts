import { basename, join } from 'node:path'
import { z } from 'zod'
import { toChecksums } from '../base/checksums.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny } from '../base/json.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { stampOf } from '../base/stamp.ts'
import { DATASET_PATH, type ReleaseIndex } from '../contract/manifest.ts'
import { LATEST_PATH, publishedPath, releaseOfPath, SIGNATURE_FILES } from '../contract/published-paths.ts'
import { isDataFile } from '../contract/release-files.ts'
import { currentEntry } from '../release/index.ts'
import type { FilePlace, NextTree } from './next-tree.ts'
import type { PublicFolder } from './public-folder.ts'

/** A cache in the state folder: the SHA-256 of each file that may change, and its stamp. */
const LISTED_FILE = 'listed.json'
const Listed = z.record(z.string(), z.tuple([z.string(), z.string()]))

interface SignedList {
  /** What `sha256sum -c` reads. */
  text: string
  /** The files that may change, with their SHA-256, and their stamps from before they were read. */
  changing: ReadonlyMap<string, { sha256: string; stamp: string | undefined }>
  /** Whether a file was read because the cache does not have it. */
  isNew: boolean
}

/**
 * Lists every file that a switch leaves, with `latest` as the files of the current release. With the `previous` list,
 * files of releases and revisions keep their signed hashes, because they never change: a file that was damaged or removed
 * since does not become right by being signed again. Strangers among them are not listed.
 */
export async function listFiles(
  tree: NextTree,
  index: ReleaseIndex,
  previous: ReadonlyMap<string, string> | undefined,
): Promise<SignedList> {
  const cache = Listed.safeParse(jsonIfAny(await readTextIfAny(join(tree.folder.stateDir, LISTED_FILE)))).data ?? {}
  const found = await tree.files()
  for (const path of SIGNATURE_FILES) found.delete(path)
  const kept = [...(previous ?? [])].filter(
    ([path]) => isImmutable(path) && !wentWithRelease(path, index) && !found.get(path)?.isStaged,
  )
  const isRemoved = tree.removed()
  const list = new Map(kept.filter(([path]) => !isRemoved(path)))
  const others = [...found].filter(([path, place]) => !list.has(path) && isToList(path, place, previous))
  const changing = new Map<string, { sha256: string; stamp: string | undefined }>()
  let isNew = false
  await sideBySide(
    others,
    async ([path, place]) => {
      // A file that its publisher changes after this is read again by the next build.
      const stamp = place.isStaged ? undefined : stampOf(place.place)
      const [cachedHash, cachedStamp] = cache[path] ?? []
      const known = stamp !== undefined && stamp === cachedStamp ? cachedHash : undefined
      isNew ||= known === undefined
      const sha256 = known ?? (await hashFile(place.place)).sha256
      list.set(path, sha256)
      if (!isImmutable(path)) changing.set(path, { sha256, stamp })
    },
    SMALL_FILES_AT_ONCE,
  )
  const folder = `${DATASET_PATH}/${currentEntry(index)?.path}`
  const latest = [...list].filter(([path]) => path.startsWith(folder))
  for (const [path, sha256] of latest) list.set(`${LATEST_PATH}/${path.slice(folder.length)}`, sha256)
  return { text: toSignedList(list), changing, isNew }
}

/** The list of files by their SHA-256. Throws `BuildError` for a name that `sha256sum` writes in another way. */
function toSignedList(list: ReadonlyMap<string, string>): string {
  return toChecksums([...list].map(([path, sha256]) => ({ path: listable(path), sha256 })))
}

/** Files of releases and revisions, which no build writes again. */
export function isImmutable(path: string): boolean {
  return ['release', 'revision'].includes(publishedPath(path).cache)
}

function isToList(path: string, { isStaged }: FilePlace, previous: ReadonlyMap<string, string> | undefined): boolean {
  return isStaged || previous === undefined || previous.has(path) || publishedPath(path).readers === 'people'
}

/** Whether a file went with its release, because that was withdrawn or dropped. */
export function wentWithRelease(path: string, { releases }: ReleaseIndex): boolean {
  const entry = releases.find(({ release }) => release === releaseOfPath(path))
  return entry?.status === 'withdrawn' || (entry?.dropped === true && isDataFile(basename(path)))
}

function listable(path: string): string {
  if (!/[\n\r\\]/.test(path)) return path
  throw new BuildError(`${JSON.stringify(path)} cannot be listed: rename it without line breaks and backslashes`)
}

/** Notes what is in place, so that the next build need not read it again. */
export async function noteListed(
  { publicDir, stateDir, files }: PublicFolder,
  { changing, isNew }: SignedList,
): Promise<void> {
  if (!isNew) return
  const stamped = [...changing].map(([path, { sha256, stamp }]) => {
    return [path, [sha256, stamp ?? stampOf(join(publicDir, path)) ?? '']]
  })
  await replaceFile(files, join(stateDir, LISTED_FILE), `${JSON.stringify(Object.fromEntries(stamped))}\n`)
}
