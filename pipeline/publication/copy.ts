import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CHECKSUMS_FILE } from '../base/checksums.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, lstatIfAny, statsIfAny } from '../base/files.ts'
import { counted } from '../base/numbers.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { DATASET_PATH } from '../contract/manifest.ts'
import { isCopiedUnlisted, LATEST_PATH, publishedPath } from '../contract/published-paths.ts'
import { missing } from './compare.ts'
import type { ExportList } from './export-list.ts'
import type { Entry } from './publication.ts'
import { releasedEntries } from './released-entries.ts'

/** A published file or link, and where it is. */
export interface PublishedFile extends Pick<Entry, 'path' | 'target' | 'sha256'> {
  source: string
  bytes: number
}

/**
 * What a copy has, by path. `latest` is a link, or the files of the current release without `symlinks`. Throws
 * `BuildError` if a file is missing, unless `isPartial`.
 */
export async function publishedFiles(
  publicDir: string,
  { symlinks = true, isPartial = false } = {},
): Promise<PublishedFile[]> {
  const listed = await releasedEntries(publicDir)
  const unlisted = (await unlistedFiles(publicDir, '')).map((path): Entry => ({ path }))
  const entries = [...listed, ...unlisted].filter(({ target }) => symlinks || target === undefined)
  const fileOf = ({ isOptional = false, ...entry }: Entry) => find(publicDir, entry, isOptional || isPartial)
  const files = (await sideBySide(entries, fileOf, SMALL_FILES_AT_ONCE)).flat()
  const current = listed.find(({ path }) => path === LATEST_PATH)?.target
  const folder = `${DATASET_PATH}/${current}/`
  const latest = files
    .filter(({ path }) => !symlinks && path.startsWith(folder))
    .map((file) => ({ ...file, path: `${LATEST_PATH}/${file.path.slice(folder.length)}` }))
  return [...files, ...latest].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function find(publicDir: string, entry: Entry, isOptional: boolean): Promise<PublishedFile[]> {
  const { path, target, sha256 } = entry
  const source = join(publicDir, path)
  if (target !== undefined) return [{ path, target, source, bytes: 0 }]
  const stats = await lstatIfAny(source)
  if (stats?.isFile()) return [{ path, source, bytes: stats.size, ...(sha256 && { sha256 }) }]
  if (stats !== undefined) throw foreign(source)
  if (isOptional) return []
  if (publishedPath(path).step !== 'periods' && sha256 === undefined) throw missing(source)
  throw damaged(source, 'is missing')
}

/** Builds follow a link to this folder, which may lie on a larger disk. */
const LINKABLE = dirname(dirname(DATASET_PATH))

/** Skips hidden names: the build's lock and staging folder. */
async function unlistedFiles(publicDir: string, folder: string): Promise<string[]> {
  const files: string[] = []
  for (const entry of await readdir(join(publicDir, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.') || !isCopiedUnlisted(entry.isFile() ? path : `${path}/`)) continue
    const stats = path === LINKABLE ? await statsIfAny(join(publicDir, path)) : entry
    if (stats?.isDirectory()) files.push(...(await unlistedFiles(publicDir, path)))
    else if (entry.isFile()) files.push(path)
    else throw foreign(join(publicDir, path))
  }
  return files
}

/** A link may lead to files that are not published. */
function foreign(path: string): BuildError {
  return new BuildError(`${path} is neither a file nor a folder, and no build has put it there; take it away`)
}

/** Throws `BuildError` if a release file does not have its checksum: the copy may hold the good file. */
export function verifyUndamaged(files: readonly PublishedFile[], contents: ExportList): void {
  const wrong = files.find(({ path, sha256 }) => sha256 !== undefined && contents.get(path) !== `sha256:${sha256}`)
  if (wrong === undefined) return
  const list = join(dirname(wrong.source), CHECKSUMS_FILE)
  const isList = wrong.source === list
  throw damaged(wrong.source, isList ? 'lists other checksums' : `does not have the checksum that ${list} lists`)
}

/** No build restores the files of releases, days and months. */
function damaged(path: string, what: string): BuildError {
  return new BuildError(`${path} ${what}; nothing was copied. Restore the file, from the copy if that one is whole`)
}

/** Copies files into the empty or missing `folder` and flushes it. `placeOf` maps paths. Stops on the signal. */
export async function copyFiles(
  published: readonly PublishedFile[],
  folder: string,
  effects: Effects,
  placeOf = (path: string) => path,
): Promise<void> {
  const { files, signal } = effects
  const folders = foldersOf(
    published.map(({ path }) => placeOf(path)),
    folder,
  )
  for (const each of folders) await files.makeFolder(each)
  const copy = ({ path, target, source }: PublishedFile) => {
    const place = join(folder, placeOf(path))
    return target === undefined ? files.copy(source, place) : files.link(target, place)
  }
  await eachFile(published, 'copy', copy, effects)
  for (const each of folders) await files.flush(each)
  signal.throwIfAborted()
}

/** `folder` and all folders in it that some paths need, the outer ones first. */
export function foldersOf(paths: readonly string[], folder: string): string[] {
  const all = new Set([folder])
  for (const path of paths)
    for (let each = dirname(path); each !== '.'; each = dirname(each)) all.add(join(folder, each))
  return [...all].sort()
}

/** The content of each file, as an export list records it. */
export async function hashFiles(published: readonly PublishedFile[], effects: Effects): Promise<ExportList> {
  const contentOf = async ({ path, target, source }: PublishedFile): Promise<[string, string]> => [
    path,
    target === undefined ? `sha256:${(await hashFile(source)).sha256}` : `-> ${target}`,
  ]
  const contents = await eachFile(published, 'compare', contentOf, effects)
  effects.report({ kind: 'done', stage: 'compare', detail: counted(published.length, 'published file') })
  return new Map(contents)
}

async function eachFile<Result>(
  published: readonly PublishedFile[],
  stage: 'copy' | 'compare',
  work: (file: PublishedFile) => Promise<Result>,
  { signal, report }: Effects,
): Promise<Result[]> {
  const bytes = published.reduce((sum, file) => sum + file.bytes, 0)
  let done = 0
  report({ kind: 'stage', stage })
  return sideBySide(
    published,
    async (file) => {
      signal.throwIfAborted()
      const result = await work(file)
      done += file.bytes
      report({ kind: 'progress', stage, share: bytes === 0 ? 1 : done / bytes, bytes })
      return result
    },
    SMALL_FILES_AT_ONCE,
  )
}
