import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CHECKSUMS_FILE, readChecksums } from '../base/checksums.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, statsIfAny } from '../base/files.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { DATASET_PATH, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { INDEX_PATH, LATEST_PATH } from '../contract/published-paths.ts'
import type { ExportList } from './export-list.ts'

/** `path` is relative; `source` is the file to copy. */
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

/** Everything published, by path. `latest` is a link, or the files of the current release without `symlinks`. */
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

/** Throws `BuildError` if a release file does not match its listed checksum: the copy may hold the good file. */
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

/** Copies entries into the empty or missing `folder` and flushes it. `placeOf` maps paths. Stops on the signal. */
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
    SMALL_FILES_AT_ONCE,
  )
  for (const each of folders) await files.flush(each)
  signal.throwIfAborted()
}

function foldersOf(paths: readonly string[], folder: string): string[] {
  const all = new Set([folder])
  for (const path of paths)
    for (let each = dirname(path); each !== '.'; each = dirname(each)) all.add(join(folder, each))
  return [...all].sort()
}

/** The content of each entry, as an export list records it. */
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

/** Builds follow links to these folders, which may lie on a larger disk. */
function mayBeLinked(path: string): boolean {
  const places = [DATASET_PATH, dirname(INDEX_PATH)]
  return path === dirname(dirname(DATASET_PATH)) || places.includes(dirname(path))
}

/** Skips hidden names: the build's lock and staging folder. */
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
    // A link may lead to unpublished files.
    else throw new BuildError(`${source} is neither a file nor a folder, and no build has put it there; take it away`)
  }
  return files
}
