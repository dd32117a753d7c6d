import { copyFile, mkdir, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import { Database, EMPTY_DATABASE_BYTES, remedyFor, UnreadableDatabaseError } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { endsOfLinks, isInside, namesIn, statsIfAny } from '../base/files.ts'
import { type Lock, lock } from '../base/lock.ts'
import { Secret } from '../base/secret.ts'
import { publishedFolders } from '../release/index.ts'
import { borrowKey, keepKey } from '../release/input-names.ts'
import { archiveStaging } from './archive.ts'
import { checkForms } from './forms.ts'
import { STATE_FILE } from './state-file.ts'

export interface Workspace {
  database: Database
  stateDir: string
  /** Archived dates, which cannot be rebuilt. */
  archiveDir: string
  /** Records of missing files, which cannot be rebuilt. */
  keptDir: string
  folder: string
  publicDir: string
  /** The real paths that SQL must access besides raw files. */
  reach: readonly string[]
  /** A permanent secret, used to identify inputs that are not raw files. */
  inputKey(): Promise<string>
  /** The secret of `DATA_DIR/disclosure`, from which all keys of disclosure control are derived. */
  secret: Secret
}

/**
 * Runs `work` while locking data and public folder against other builds, and cleans up. Throws `BuildError` if another
 * build has a lock, `CliError` if the data folder is inside the public one.
 */
export async function withWorkspace<Result>(
  config: PipelineConfig,
  effects: Effects,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { files } = effects
  const { keyPath, secretPath, ...folders } = placesOf(config)
  const { publicDir, stateDir } = folders
  await files.makeFolder(publicDir)
  await files.makeFolder(stateDir)
  const folder = join(stateDir, 'tmp')
  const database = await openState(stateDir, join(folder, 'spill'), config, effects)
  try {
    const publicLock = await lockPublic(publicDir)
    try {
      await checkForms(config, files)
      await files.remove(folder)
      await files.remove(archiveStaging(folders.archiveDir))
      await files.makeFolder(folder)
      const reach = await reachOf(folders)
      const secret = new Secret(secretPath, files)
      return await work({ ...folders, database, folder, reach, inputKey: () => keepKey(keyPath, files), secret })
    } finally {
      await publicLock.release()
    }
  } finally {
    // In this order: after the lock is released, the folder belongs to the next build.
    try {
      await files.remove(folder)
    } finally {
      database.close()
    }
  }
}

/** Locks the public folder. Throws `BuildError` if a build is running. */
export function lockPublic(publicDir: string): Promise<Lock> {
  return lock(join(publicDir, '.lock'))
}

/**
 * The same for a build that stores nothing: works in a temporary folder without locks and only reads existing data.
 * With `knowsNothing` it ignores the state, so all raw files are read again.
 */
export async function withScratch<Result>(
  config: PipelineConfig,
  effects: Effects,
  work: (workspace: Workspace) => Promise<Result>,
  { knowsNothing = false } = {},
): Promise<Result> {
  const { keyPath, secretPath, ...real } = placesOf(config)
  await checkForms(config)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-scratch-'))
  try {
    const [stateDir, keptDir] = [join(folder, 'state'), join(folder, 'kept')]
    await mirror(real.keptDir, keptDir)
    await mkdir(stateDir)
    if (!knowsNothing) await copyState(real.stateDir, stateDir)
    const database = await openState(stateDir, join(folder, 'spill'), config, effects, real.stateDir)
    try {
      const reach = [folder, ...(await reachOf(real))]
      const keys = { inputKey: () => borrowKey(keyPath), secret: new Secret(secretPath) }
      return await work({ ...real, database, stateDir, keptDir, folder, reach, ...keys })
    } finally {
      database.close()
    }
  } finally {
    await effects.files.remove(folder)
  }
}

/** DuckDB's write-ahead log has the same prefix. */

async function copyState(from: string, to: string): Promise<void> {
  for (const name of ['records', 'rejects']) await mirror(join(from, name), join(to, name))
  for (const name of await namesIn(from)) {
    if (name.startsWith(STATE_FILE)) await copyFile(join(from, name), join(to, name))
  }
}

/** Opens the state, named `knownAs` in errors. Replaces a file that a stopped build left before its first table. */
async function openState(
  stateDir: string,
  temporaryFolder: string,
  { memoryLimit, threads }: PipelineConfig,
  { files, signal }: Effects,
  knownAs = stateDir,
): Promise<Database> {
  const path = join(stateDir, STATE_FILE)
  const open = () => Database.open({ path, temporaryFolder, memoryLimit, threads, signal })
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof UnreadableDatabaseError)) throw error
    const [size = 0, unwritten = 0] = [(await statsIfAny(path))?.size, (await statsIfAny(`${path}.wal`))?.size]
    if (size > EMPTY_DATABASE_BYTES || unwritten > 0) {
      const message = `${error.message}; ${remedyFor(path)}`
      throw new BuildError(message.replaceAll(stateDir, knownAs), { cause: error })
    }
    await files.remove(path)
    return open()
  }
}

/** Makes a folder of links, so that renames and deletions do not affect the other. Skips files being written. */
async function mirror(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const names = (await namesIn(from)).filter((name) => !name.endsWith('.next'))
  for (const name of names) await symlink(join(from, name), join(to, name))
}

/** The folders and the targets of links in them. Releases and archived parts may be on another disk. */
async function reachOf(folders: Folders): Promise<string[]> {
  const { publicDir, archiveDir, keptDir } = folders
  return [...Object.values(folders), ...(await endsOfLinks([...publishedFolders(publicDir), archiveDir, keptDir]))]
}

type Folders = Pick<Workspace, 'publicDir' | 'stateDir' | 'archiveDir' | 'keptDir'>

function placesOf(config: PipelineConfig): Folders & { keyPath: string; secretPath: string } {
  const publicDir = resolve(config.publicDir)
  const stateDir = resolve(config.dataDir, 'state')
  checkNotPublished(stateDir, publicDir)
  const archive = resolve(config.dataDir, 'archive')
  return {
    publicDir,
    stateDir,
    archiveDir: join(archive, 'dates'),
    keptDir: join(archive, 'files'),
    keyPath: join(archive, 'inputs.key'),
    secretPath: resolve(config.dataDir, 'disclosure/secret.key'),
  }
}

/** The state has private models and the usage of keys. Everything below the public folder is published. */
function checkNotPublished(stateDir: string, publicDir: string): void {
  if (!isInside(stateDir, publicDir)) return
  throw new CliError(`DATA_DIR is inside PUBLIC_DIR ${publicDir}, where everything is published; choose another folder`)
}
