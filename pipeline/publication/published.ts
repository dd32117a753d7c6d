import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CHECKSUMS_FILE, readChecksums } from '../base/checksums.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, statsIfAny } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { DATASET_PATH, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { INDEX_PATH, LATEST_PATH } from '../contract/published-paths.ts'
import type { ExportList } from './export-list.ts'

/** Many small files: most of the time goes into waiting until they are on disk. */
const AT_ONCE = 16

/** A file or link as a copy of the public folder has it. Paths are relative, `source` is the file to copy. */
export type PublishedEntry = PublishedFile | PublishedLink
interface PublishedFile {
  path: string
  source: string
  bytes: number
}
interface PublishedLink {
  path: string
  target: string
  bytes: 0
}

export function isLink(entry: PublishedEntry): entry is PublishedLink {
  return 'target' in entry
}

/** Everything that is published, in order of path, with `latest` as a link or with the files of the current release. */
export async function publishedEntries(
  publicDir: string,
  current: ReleaseName,
  symlinks: boolean,
): Promise<PublishedEntry[]> {
  const files = await filesBelow(publicDir, '')
  const folder = `${releasePath(current)}/`
  const latest: PublishedEntry[] = symlinks
    ? [{ path: LATEST_PATH, target: `releases/${current}`, bytes: 0 }]
    : files
        .filter(({ path }) => path.startsWith(folder))
        .map((file) => ({ ...file, path: `${LATEST_PATH}/${file.path.slice(folder.length)}` }))
  return [...files, ...latest].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * Throws `BuildError` for a file of a release that is not what the checksums of the release list: it is damaged, and the
 * copy may have the good one.
 */
export async function assertUndamaged(entries: readonly PublishedEntry[], contents: ExportList): Promise<void> {
  for (const entry of entries) {
    if (isLink(entry) || basename(entry.path) !== CHECKSUMS_FILE || entry.path.startsWith(`${LATEST_PATH}/`)) continue
    for (const [name, sha256] of readChecksums(await readFile(entry.source, 'utf8'))) {
      if (contents.get(join(dirname(entry.path), name)) === `sha256:${sha256}`) continue
      throw new BuildError(
        `${join(dirname(entry.source), name)} does not have the checksum that ${entry.source} lists; nothing was copied. ` +
          'Restore the file, from the copy if that one is whole',
      )
    }
  }
}

/**
 * Copies entries below `folder`, which is empty or not there, and flushes it: each to its path, or to what `placeOf` makes
 * of that. Stops when the signal says so.
 */
export async function copyEntries(
  entries: readonly PublishedEntry[],
  folder: string,
  { files, signal, report }: Effects,
  placeOf = (path: string) => path,
): Promise<void> {
  const folders = foldersOf(
    entries.map(({ path }) => placeOf(path)),
    folder,
  )
  for (const each of folders) await files.makeFolder(each)
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  let done = 0
  report({ kind: 'stage', stage: 'copy' })
  await sideBySide(
    entries,
    async (entry) => {
      signal.throwIfAborted()
      const place = join(folder, placeOf(entry.path))
      if (isLink(entry)) await files.link(entry.target, place)
      else await files.copy(entry.source, place)
      done += entry.bytes
      report({ kind: 'progress', stage: 'copy', share: bytes === 0 ? 1 : done / bytes, bytes })
    },
    AT_ONCE,
  )
  for (const each of folders) await files.flush(each)
  signal.throwIfAborted()
}

/** `folder` and all folders below it that hold an entry, those above others first. */
function foldersOf(paths: readonly string[], folder: string): string[] {
  const all = new Set([folder])
  for (const path of paths)
    for (let each = dirname(path); each !== '.'; each = dirname(each)) all.add(join(folder, each))
  return [...all].sort()
}

/** What each entry is to hold. */
export async function hashEntries(
  entries: readonly PublishedEntry[],
  { signal, report }: Effects,
): Promise<ExportList> {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  let done = 0
  report({ kind: 'stage', stage: 'compare' })
  const contents = await sideBySide(entries, async (entry): Promise<[string, string]> => {
    signal.throwIfAborted()
    if (isLink(entry)) return [entry.path, `-> ${entry.target}`]
    const { sha256 } = await hashFile(entry.source)
    done += entry.bytes
    report({ kind: 'progress', stage: 'compare', share: bytes === 0 ? 1 : done / bytes, bytes })
    return [entry.path, `sha256:${sha256}`]
  })
  report({ kind: 'done', stage: 'compare', detail: `${entries.length} published files` })
  return new Map(contents)
}

/** Folders in whose place a link may stand, for a disk with more room: builds follow them too. */
function mayBeLinked(path: string): boolean {
  const places = [DATASET_PATH, dirname(INDEX_PATH)]
  return path === dirname(dirname(DATASET_PATH)) || places.includes(dirname(path))
}

/** Hidden names are of the build itself: its lock, and what it puts together. */
async function filesBelow(publicDir: string, folder: string): Promise<PublishedFile[]> {
  const files: PublishedFile[] = []
  for (const entry of await readdir(join(publicDir, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.name.startsWith('.') || path === LATEST_PATH) continue
    const source = join(publicDir, path)
    if (entry.isDirectory()) files.push(...(await filesBelow(publicDir, path)))
    else if (entry.isFile()) files.push({ path, source, bytes: (await stat(source)).size })
    else if (mayBeLinked(path) && (await statsIfAny(source))?.isDirectory()) {
      files.push(...(await filesBelow(publicDir, path)))
    }
    // A link may lead to what is not published.
    else throw new BuildError(`${source} is neither a file nor a folder, and no build has put it there; take it away`)
  }
  return files
}
