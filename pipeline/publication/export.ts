import { dirname, join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { type Files, hashFile, isInside, linkTarget, namesIn, statsIfAny } from '../base/files.ts'
import { isFolder, moveInto } from '../base/move.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { isCoding } from '../contract/codings.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { LATEST_PATH, publishedPath, STEPS } from '../contract/published-paths.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import { lockPublic } from '../rollup/workspace.ts'
import { copyFiles, hashFiles, type PublishedFile, publishedFiles, verifyUndamaged } from './copy.ts'
import { type ExportList, OWN_FOLDER, readList, writeList } from './export-list.ts'
import { verifyComplete } from './publish.ts'
import { readSignatures, splitByList, verifyAsSigned } from './signed-copy.ts'

interface ExportOptions {
  folder: string
  /** True: `latest` is a link, as published. False: a folder with the files of the release. */
  symlinks?: boolean
}

export interface ExportSummary {
  outcome: 'exported' | 'unchanged'
  release: ReleaseName
  files: number
  bytes: number
  copied: number
  removed: number
  /** Files of an earlier export that were damaged or missing. A key of `--json`. */
  mended: string[]
  path: string
}

const NAMED = 10

/**
 * Copies the published files into `folder` or updates an earlier copy, leaving other files alone; rerun after a stop.
 * Throws `CliError` for an unusable folder, `BuildError` if nothing is published or a stopped build must be completed.
 */
export async function exportPublished(
  config: PipelineConfig,
  effects: Effects,
  { folder, symlinks = true }: ExportOptions,
): Promise<ExportSummary> {
  const publicDir = resolve(config.publicDir)
  const target = resolve(folder)
  checkApart(publicDir, target)
  const previous = await readList(target)
  if (currentEntry(await readIndex(publicDir)) === undefined) {
    throw new BuildError(`${publicDir} holds no release; run make build first`)
  }
  const publicLock = await lockPublic(publicDir)
  try {
    const { release } = await verifyComplete(publicDir)
    const manifest = await readManifest(join(publicDir, releasePath(release)))
    const { published, contents } = await readSite(publicDir, { symlinks }, effects)
    const updated = await update(target, previous, { published, contents }, effects)
    if (manifest.synthetic) {
      const message = `${target} holds the synthetic sample: no host may call its files immutable (docs/hosting.md)`
      effects.report({ kind: 'notice', message })
    }
    const bytes = published.reduce((sum, file) => sum + file.bytes, 0)
    const outcome = updated.copied + updated.removed > 0 ? 'exported' : 'unchanged'
    return { outcome, release, files: published.length, bytes, ...updated, path: target }
  } catch (error) {
    if (!effects.signal.aborted) throw error
    throw new BuildError(`stopped; ${target} is not complete until the same command is run again`, { cause: error })
  } finally {
    await publicLock.release()
  }
}

/** The files of a copy, and the content of each. */
interface Copied {
  published: readonly PublishedFile[]
  contents: ExportList
}

/**
 * What a copy of the public folder has: of a signed site, the files that its signatures cover, and the signatures. The
 * folder must be locked. Throws `BuildError` if a file is missing, damaged or not as it was signed.
 */
async function readSite(publicDir: string, { symlinks }: { symlinks: boolean }, effects: Effects): Promise<Copied> {
  const found = await publishedFiles(publicDir, { symlinks })
  const signed = await readSignatures(publicDir)
  const { listed, unlisted } = signed === undefined ? { listed: found, unlisted: [] } : splitByList(found, signed)
  for (const what of named(unlisted.map((path) => join(publicDir, path)))) {
    effects.report({
      kind: 'notice',
      message: `${what} left out of the copy, because it is not in the signed list: run make build`,
    })
  }
  const contents = await hashFiles(listed, effects)
  verifyUndamaged(listed, contents)
  if (signed !== undefined) verifyAsSigned(publicDir, signed, contents)
  return { published: listed, contents }
}

async function update(
  target: string,
  previous: ExportList,
  { published, contents }: Copied,
  effects: Effects,
): Promise<Pick<ExportSummary, 'copied' | 'removed' | 'mended'>> {
  const { files, report } = effects
  const changed = await differing(target, published, contents, effects)
  const removed = [...previous.keys()].filter((path) => !contents.has(path))
  const repaired = changed.map(({ path }) => path).filter((path) => previous.get(path) === contents.get(path))
  const updated = { copied: changed.length, removed: removed.length, mended: repaired }
  if (changed.length + removed.length > 0) {
    // Content is unknown while files change: after a stop they are copied again.
    const unknown = changed.map(({ path }): [string, null] => [path, null])
    await writeList(target, new Map([...previous, ...unknown]), files)
    // A host sends a compressed form for its text without comparing them: the old one goes before the text changes.
    const outdated = [...changed.map(({ path }) => path), ...removed].filter((path) => isCoding(path))
    await placeChanged(target, { changed, outdated }, published, effects)
    await removeFiles(target, removed, files)
  } else if ([...contents].every(([path, content]) => previous.get(path) === content)) return updated
  await writeList(target, contents, files)
  if (changed.length + removed.length > 0) {
    report({ kind: 'done', stage: 'copy', detail: `${changed.length} copied, ${removed.length} removed` })
  }
  reportDamaged(target, repaired, effects)
  return updated
}

async function placeChanged(
  target: string,
  { changed, outdated }: { changed: readonly PublishedFile[]; outdated: readonly string[] },
  published: readonly PublishedFile[],
  effects: Effects,
): Promise<void> {
  const { files } = effects
  const staging = join(target, OWN_FOLDER, 'next')
  try {
    await files.remove(staging)
    await copyFiles(changed, staging, effects, (path) => join(publishedPath(path).step, path))
    await makeWay(target, published, files)
    for (const path of outdated) await files.remove(join(target, path))
    for (const step of STEPS) {
      if (await isFolder(join(staging, step))) await moveInto(files, join(staging, step), target)
    }
  } finally {
    await files.remove(staging)
  }
}

function reportDamaged(target: string, paths: readonly string[], { report }: Effects): void {
  for (const what of named(paths.map((path) => join(target, path)))) {
    report({ kind: 'notice', message: `${what} damaged or missing in the copy: copied again` })
  }
}

/** The first of many files, and how many more there are, each with a verb. */
function named(paths: readonly string[]): string[] {
  const more = paths.length - NAMED
  const first = paths.slice(0, NAMED).map((path) => `${path} was`)
  return more > 0 ? [...first, more === 1 ? '1 more file was' : `${more} more files were`] : first
}

/** Reads every byte of the copy: size and time prove nothing. */
async function differing(
  target: string,
  published: readonly PublishedFile[],
  contents: ExportList,
  { signal }: Effects,
): Promise<PublishedFile[]> {
  const isLinked = (await linkTarget(join(target, LATEST_PATH))) !== undefined
  const checked = await sideBySide(published, async (file) => {
    signal.throwIfAborted()
    // The bytes behind the link are right, but the copy needs a file of its own.
    if (isLinked && file.path.startsWith(`${LATEST_PATH}/`)) return [file]
    return (await isCopied(target, file, contents)) ? [] : [file]
  })
  return checked.flat()
}

async function isCopied(target: string, file: PublishedFile, contents: ExportList): Promise<boolean> {
  const path = join(target, file.path)
  const link = await linkTarget(path)
  if (file.target !== undefined || link !== undefined) return link === file.target
  const stats = await statsIfAny(path)
  if (stats?.isFile() !== true || stats.size !== file.bytes) return false
  return `sha256:${(await hashFile(path)).sha256}` === contents.get(file.path)
}

/** A rename cannot replace a link by a folder or a folder by a link, so remove the wrong one first. */
async function makeWay(target: string, published: readonly PublishedFile[], files: Files): Promise<void> {
  const path = join(target, LATEST_PATH)
  const willBeLink = published.some((file) => file.path === LATEST_PATH)
  const isInTheWay = willBeLink ? await isFolder(path) : (await linkTarget(path)) !== undefined
  if (isInTheWay) await files.remove(path)
}

async function removeFiles(target: string, paths: readonly string[], files: Files): Promise<void> {
  // Never delete through the link: its files have paths of their own.
  const isLinked = (await linkTarget(join(target, LATEST_PATH))) !== undefined
  const own = paths.filter((path) => !(isLinked && path.startsWith(`${LATEST_PATH}/`)) && path !== LATEST_PATH)
  for (const path of own) await files.remove(join(target, path))
  const deepestFirst = [...new Set(own.flatMap(foldersAbove))].sort((a, b) => b.length - a.length)
  for (const folder of deepestFirst) {
    const path = join(target, folder)
    if ((await isFolder(path)) && (await namesIn(path)).length === 0) await files.remove(path)
  }
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...foldersAbove(folder)]
}

/** A copy inside the public folder would copy itself; a public folder inside the copy would be removed. */
function checkApart(publicDir: string, target: string): void {
  if (!isInside(target, publicDir) && !isInside(publicDir, target)) return
  throw new CliError(`${target} and PUBLIC_DIR ${publicDir} lie in each other; give the copy a folder of its own`)
}
