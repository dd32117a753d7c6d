import { dirname, join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { type Files, hashFile, isInside, linkTarget, namesIn, statsIfAny } from '../base/files.ts'
import { isFolder, moveInto } from '../base/move.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { LATEST_PATH, publishedPath, STEPS } from '../contract/published-paths.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import { lockPublic } from '../rollup/workspace.ts'
import { type ExportList, OWN_FOLDER, readList, writeList } from './export-list.ts'
import { assertComplete } from './publish.ts'
import {
  assertUndamaged,
  copyEntries,
  hashEntries,
  isLink,
  type PublishedEntry,
  publishedEntries,
} from './published.ts'

export interface ExportOptions {
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
  /** Files of an earlier export that were damaged or missing. */
  mended: string[]
  path: string
}

const MENDED_NAMED = 10

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
  assertApart(publicDir, target)
  const before = await readList(target)
  if (currentEntry(await readIndex(publicDir)) === undefined) {
    throw new BuildError(`${publicDir} holds no release; run make build first`)
  }
  const publicLock = await lockPublic(publicDir)
  try {
    const { release } = await assertComplete(publicDir)
    const entries = await publishedEntries(publicDir, release, symlinks)
    const updated = await update(target, before, entries, effects)
    if ((await readManifest(join(publicDir, releasePath(release)))).synthetic) {
      const message = `${target} holds the synthetic sample: no host may call its files immutable (docs/hosting.md)`
      effects.report({ kind: 'notice', message })
    }
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
    const outcome = updated.copied + updated.removed > 0 ? 'exported' : 'unchanged'
    return { outcome, release, files: entries.length, bytes, ...updated, path: target }
  } catch (error) {
    if (!effects.signal.aborted) throw error
    throw new BuildError(`stopped; ${target} is not complete until the same command is run again`, { cause: error })
  } finally {
    await publicLock.release()
  }
}

async function update(
  target: string,
  before: ExportList,
  entries: readonly PublishedEntry[],
  effects: Effects,
): Promise<Pick<ExportSummary, 'copied' | 'removed' | 'mended'>> {
  const { files, report } = effects
  const now = await hashEntries(entries, effects)
  await assertUndamaged(entries, now)
  const changed = await differing(target, entries, now, effects)
  const gone = [...before.keys()].filter((path) => !now.has(path))
  const mended = changed.map(({ path }) => path).filter((path) => before.get(path) === now.get(path))
  const updated = { copied: changed.length, removed: gone.length, mended }
  const isListed = [...now].every(([path, content]) => before.get(path) === content)
  if (changed.length + gone.length === 0 && isListed) return updated
  if (changed.length + gone.length > 0) await replaceFiles(target, { before, entries, changed, gone }, effects)
  await writeList(target, now, files)
  if (changed.length + gone.length > 0) {
    report({ kind: 'done', stage: 'copy', detail: `${changed.length} copied, ${gone.length} removed` })
  }
  reportMended(target, mended, effects)
  return updated
}

async function replaceFiles(
  target: string,
  {
    before,
    entries,
    changed,
    gone,
  }: {
    before: ExportList
    entries: readonly PublishedEntry[]
    changed: readonly PublishedEntry[]
    gone: readonly string[]
  },
  effects: Effects,
): Promise<void> {
  const { files } = effects
  // Content is unknown while files change: after a stop they are copied again.
  const unknown = changed.map(({ path }): [string, null] => [path, null])
  await writeList(target, new Map([...before, ...unknown]), files)
  const staging = join(target, OWN_FOLDER, 'next')
  try {
    await files.remove(staging)
    await copyEntries(changed, staging, effects, (path) => join(publishedPath(path).step, path))
    await makeWay(target, entries, files)
    for (const step of STEPS) {
      if (await isFolder(join(staging, step))) await moveInto(files, join(staging, step), target)
    }
  } finally {
    await files.remove(staging)
  }
  await removeGone(target, gone, files)
}

function reportMended(target: string, mended: readonly string[], { report }: Effects): void {
  const notice = (what: string) =>
    report({ kind: 'notice', message: `${what} damaged or missing in the copy: copied again` })
  for (const path of mended.slice(0, MENDED_NAMED)) notice(`${join(target, path)} was`)
  const more = mended.length - MENDED_NAMED
  if (more > 0) notice(more === 1 ? '1 more file was' : `${more} more files were`)
}

/** Reads every byte of the copy: size and time prove nothing. */
async function differing(
  target: string,
  entries: readonly PublishedEntry[],
  now: ExportList,
  { signal }: Effects,
): Promise<PublishedEntry[]> {
  const isLinked = (await linkTarget(join(target, LATEST_PATH))) !== undefined
  const checked = await sideBySide(entries, async (entry) => {
    signal.throwIfAborted()
    // The bytes behind the link are right, but the copy needs a file of its own.
    if (isLinked && entry.path.startsWith(`${LATEST_PATH}/`)) return [entry]
    return (await isThere(target, entry, now)) ? [] : [entry]
  })
  return checked.flat()
}

async function isThere(target: string, entry: PublishedEntry, now: ExportList): Promise<boolean> {
  const path = join(target, entry.path)
  const link = await linkTarget(path)
  if (isLink(entry)) return link === entry.target
  const stats = link === undefined ? await statsIfAny(path) : undefined
  if (stats?.isFile() !== true || stats.size !== entry.bytes) return false
  return `sha256:${(await hashFile(path)).sha256}` === now.get(entry.path)
}

/** A rename cannot replace a link by a folder or a folder by a link, so remove the wrong one first. */
async function makeWay(target: string, entries: readonly PublishedEntry[], files: Files): Promise<void> {
  const path = join(target, LATEST_PATH)
  const willBeLink = entries.some((entry) => entry.path === LATEST_PATH)
  const isInTheWay = willBeLink ? await isFolder(path) : (await linkTarget(path)) !== undefined
  if (isInTheWay) await files.remove(path)
}

async function removeGone(target: string, gone: readonly string[], files: Files): Promise<void> {
  // Never delete through the link: its files have paths of their own.
  const isLinked = (await linkTarget(join(target, LATEST_PATH))) !== undefined
  const own = gone.filter((path) => !(isLinked && path.startsWith(`${LATEST_PATH}/`)) && path !== LATEST_PATH)
  for (const path of own) await files.remove(join(target, path))
  const folders = new Set(own.flatMap(foldersAbove))
  const deepestFirst = [...folders].sort((a, b) => b.length - a.length)
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
function assertApart(publicDir: string, target: string): void {
  if (!isInside(target, publicDir) && !isInside(publicDir, target)) return
  throw new CliError(`${target} and PUBLIC_DIR ${publicDir} lie in each other; give the copy a folder of its own`)
}
