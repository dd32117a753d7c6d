import { chmod, link, symlink, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CHECKSUMS_FILE, readChecksums, toChecksums } from '../base/checksums.ts'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import {
  type FileHash,
  type Files,
  hashFile,
  ifAny,
  isInside,
  isThere,
  namesIn,
  readTextIfAny,
  statsIfAny,
} from '../base/files.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { releaseName } from '../contract/manifest.ts'
import { INDEX_PATH } from '../contract/published-paths.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { foldersOf } from '../publication/copy.ts'
import { lockPublic } from '../rollup/workspace.ts'
import { type BackupEntry, backupEntries, backupRoots } from './backup-entries.ts'

/** A backup is named by when it was made. */
const BACKUP_NAME = /^\d{8}T\d{6}Z$/

const MS_PER_DAY = 86_400_000

export interface BackupOptions {
  /** The folder of all backups. */
  place: string
  /** Remove backups that are older than so many days. */
  keepDays: number | undefined
  /** Writes the store into the folder of the backup. Returns the names of its files. */
  backUpStore(folder: string, signal: AbortSignal): Promise<string[]>
}

export interface BackupSummary {
  folder: string
  files: number
  bytes: number
  /** Files that share their room on the disk with the previous backup. */
  unchanged: number
  /** Paths of files that are damaged in the previous backup, and perhaps in those before it, which may share them. */
  damaged: string[]
  /** Names of backups that were removed. */
  removed: string[]
}

interface BackedUp extends FileHash {
  path: string
  isUnchanged: boolean
  isDamagedBefore: boolean
}

/**
 * Makes a new dated folder in `place` with the store, what lasts of DATA_DIR, the configuration and PUBLIC_DIR, while no
 * build can run. It gets its name when it is complete and on the disk. Unchanged files are hard links to those of the
 * previous backup, which are read first. Everything is readable by its owner only. Throws `BuildError` if nothing is published,
 * `CliError` for a `place` in what is backed up.
 */
export async function makeBackup(
  config: PipelineConfig,
  effects: Effects,
  { place, keepDays, backUpStore }: BackupOptions,
): Promise<BackupSummary> {
  const { files, signal } = effects
  const publicDir = resolve(config.publicDir)
  // Otherwise backups of nothing would replace the good ones, for instance while a disk is not there.
  if (!(await isThere(join(publicDir, INDEX_PATH)))) {
    throw new BuildError(`there is no release in ${config.publicDir}, so there is nothing to back up`)
  }
  const roots = await backupRoots(config)
  const around = roots.find(({ from }) => isInside(place, from))
  if (around !== undefined) throw new CliError(`${place} lies in ${around.from}, which is backed up itself`)
  await files.makeFolder(place, true)
  const lock = await lockPublic(publicDir)
  const next = join(place, '.next')
  try {
    const now = effects.now()
    const folder = join(place, releaseName(toTimestamp(now)))
    if (await isThere(folder)) throw new BuildError(`${folder} is there already`)
    await files.remove(next)
    await files.makeFolder(next, true)
    const stored = await backUpStore(next, signal)
    const copied = await copyEntries(await backupEntries(roots), { place, next }, effects)
    const all = [...(await sideBySide(stored, (path) => describe(next, path))), ...copied]
    await files.write(join(next, CHECKSUMS_FILE), toChecksums(all), true)
    for (const each of foldersOf(pathsOf(copied), next)) await files.flush(each)
    await files.rename(next, folder)
    return {
      folder,
      files: all.length,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      unchanged: all.filter(({ isUnchanged }) => isUnchanged).length,
      damaged: all.filter(({ isDamagedBefore }) => isDamagedBefore).map(({ path }) => path),
      removed: keepDays === undefined ? [] : await removeOld(place, now.getTime() - keepDays * MS_PER_DAY, files),
    }
  } finally {
    await files.remove(next)
    await lock.release()
  }
}

function pathsOf(entries: readonly { path: string }[]): string[] {
  return entries.map(({ path }) => path)
}

async function copyEntries(
  entries: readonly BackupEntry[],
  { place, next }: { place: string; next: string },
  { files, signal }: Effects,
): Promise<BackedUp[]> {
  const previous = (await backupsIn(place)).at(-1)
  const before = previous === undefined ? undefined : join(place, previous)
  const sums = readChecksums((before && (await readTextIfAny(join(before, CHECKSUMS_FILE)))) ?? '')
  for (const folder of foldersOf(pathsOf(entries), next)) await files.makeFolder(folder, true)
  const copied = await sideBySide(
    entries,
    async ({ from, path, target }) => {
      signal.throwIfAborted()
      if (target !== undefined) return void (await symlink(target, join(next, path)))
      const sum = sums.get(path)
      const old = before === undefined || sum === undefined ? undefined : join(before, path)
      const hash = old === undefined ? undefined : await ifAny(() => hashFile(old))
      const isDamagedBefore = old !== undefined && hash?.sha256 !== sum
      if (old !== undefined && hash !== undefined && !isDamagedBefore && (await isUnchanged(from, old))) {
        await link(old, join(next, path))
        return { path, ...hash, isUnchanged: true, isDamagedBefore }
      }
      await copyPrivately(from, join(next, path), files)
      return { ...(await describe(next, path)), isDamagedBefore }
    },
    SMALL_FILES_AT_ONCE,
  )
  return copied.filter((each) => each !== undefined)
}

async function isUnchanged(from: string, before: string): Promise<boolean> {
  const [now, then] = [await statsIfAny(from), await statsIfAny(before)]
  if (now === undefined || then === undefined || now.size !== then.size) return false
  // A copy keeps no more than milliseconds.
  return Math.trunc(now.mtimeMs) === Math.trunc(then.mtimeMs)
}

async function copyPrivately(from: string, to: string, files: Files): Promise<void> {
  const { mtimeMs } = (await statsIfAny(from)) ?? { mtimeMs: 0 }
  await files.copy(from, to)
  await chmod(to, 0o600)
  await utimes(to, mtimeMs / 1000, mtimeMs / 1000)
}

async function describe(folder: string, path: string): Promise<BackedUp> {
  return { path, ...(await hashFile(join(folder, path))), isUnchanged: false, isDamagedBefore: false }
}

async function backupsIn(place: string): Promise<string[]> {
  return (await namesIn(place)).filter((name) => BACKUP_NAME.test(name)).sort()
}

async function removeOld(place: string, before: number, files: Files): Promise<string[]> {
  const oldest = releaseName(toTimestamp(new Date(before)))
  const removed = (await backupsIn(place)).filter((name) => name < oldest)
  for (const name of removed) await files.remove(join(place, name))
  return removed
}
