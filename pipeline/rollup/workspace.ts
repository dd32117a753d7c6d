import { copyFile, mkdir, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import { Database, EMPTY_DATABASE_BYTES, remedyFor, UnreadableDatabaseError } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, UsageError } from '../base/errors.ts'
import { endsOfLinks, isInside, namesIn, statsIfAny } from '../base/files.ts'
import { type Lock, lock } from '../base/lock.ts'
import { publishedFolders } from '../release/index.ts'
import { borrowKey, keepKey } from '../release/input-names.ts'
import { archiveStaging } from './archive.ts'

/** What one build has to itself while it runs. */
export interface Workspace {
  database: Database
  /** What is kept from build to build, for the maintainer alone. */
  stateDir: string
  /** What cannot be made again, closed dates: read by a build and written by `tokenboard archive`. */
  archiveDir: string
  /** What cannot be made again either: the records of files that are gone. */
  keptDir: string
  /** An empty folder, gone when the build ends. */
  folder: string
  publicDir: string
  /** Where all of these really lie: what statements have to reach beside the raw files. */
  reach: readonly string[]
  /** A secret that stays the same from build to build, by which releases call what is not raw. */
  inputKey(): Promise<string>
}

/**
 * Runs `work` with the data and the public folder locked against other builds, and tidies up whatever happens.
 * Throws `BuildError` when another build has one of them, `UsageError` when the one lies in the other.
 */
export async function withWorkspace<Result>(
  config: PipelineConfig,
  effects: Effects,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { files } = effects
  const { keyPath, ...folders } = placesOf(config)
  const { publicDir, stateDir } = folders
  await files.makeFolder(publicDir)
  await files.makeFolder(stateDir)
  const folder = join(stateDir, 'tmp')
  const database = await openState(stateDir, join(folder, 'spill'), config, effects)
  try {
    const publicLock = await lockPublic(publicDir)
    try {
      await files.remove(folder)
      await files.remove(archiveStaging(folders.archiveDir))
      await files.makeFolder(folder)
      const reach = await reachOf(folders)
      return await work({ ...folders, database, folder, reach, inputKey: () => keepKey(keyPath, files) })
    } finally {
      await publicLock.release()
    }
  } finally {
    // In this order: once the lock is given back, the folder belongs to whoever takes it next.
    try {
      await files.remove(folder)
    } finally {
      database.close()
    }
  }
}

/** Keeps builds away from the public folder until it is released. Throws `BuildError` when one is running. */
export function lockPublic(publicDir: string): Promise<Lock> {
  return lock(join(publicDir, '.lock'))
}

/**
 * The same for a build that publishes and keeps nothing: it works in a folder of its own below the system's temporary
 * one, takes no lock, and finds published and kept files as they are, if they are there at all. With `knowsNothing` it
 * takes nothing from the state but copies of objects, so that every raw file is read again.
 */
export async function withScratch<Result>(
  config: PipelineConfig,
  effects: Effects,
  work: (workspace: Workspace) => Promise<Result>,
  { knowsNothing = false } = {},
): Promise<Result> {
  const { keyPath, ...real } = placesOf(config)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-scratch-'))
  try {
    const [stateDir, keptDir] = [join(folder, 'state'), join(folder, 'kept')]
    await mirror(real.keptDir, keptDir)
    await mkdir(stateDir)
    await mirror(join(real.stateDir, 'objects'), join(stateDir, 'objects'))
    if (!knowsNothing) await copyState(real.stateDir, stateDir)
    const database = await openState(stateDir, join(folder, 'spill'), config, effects, real.stateDir)
    try {
      const reach = [folder, ...(await reachOf(real))]
      return await work({ ...real, database, stateDir, keptDir, folder, reach, inputKey: () => borrowKey(keyPath) })
    } finally {
      database.close()
    }
  } finally {
    await effects.files.remove(folder)
  }
}

/** Beside it DuckDB keeps what it has not yet written into it, under a name that begins so. */
const STATE_FILE = 'build.duckdb'

async function copyState(from: string, to: string): Promise<void> {
  for (const name of ['records', 'rejects']) await mirror(join(from, name), join(to, name))
  for (const name of await namesIn(from)) {
    if (name.startsWith(STATE_FILE)) await copyFile(join(from, name), join(to, name))
  }
}

/** Opens the state, which messages call `knownAs`. What a build was stopped in the middle of making has never held anything, and is made anew. */
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

/**
 * A folder whose entries lead to those of another, so that what is renamed to them or removed there leaves the other as it
 * is. What a stopped build had begun to write is no entry: who writes under that name would write there.
 */
async function mirror(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const names = (await namesIn(from)).filter((name) => !name.endsWith('.next'))
  for (const name of names) await symlink(join(from, name), join(to, name))
}

/** The folders and what links in them lead to: a release or an archived part may lie on another disk. */
async function reachOf(folders: Folders): Promise<string[]> {
  const { publicDir, archiveDir, keptDir } = folders
  return [...Object.values(folders), ...(await endsOfLinks([...publishedFolders(publicDir), archiveDir, keptDir]))]
}

type Folders = Pick<Workspace, 'publicDir' | 'stateDir' | 'archiveDir' | 'keptDir'>

function placesOf(config: PipelineConfig): Folders & { keyPath: string } {
  const publicDir = resolve(config.publicDir)
  const stateDir = resolve(config.dataDir, 'state')
  assertNotPublished(stateDir, publicDir)
  const archive = resolve(config.dataDir, 'archive')
  return {
    publicDir,
    stateDir,
    archiveDir: join(archive, 'dates'),
    keptDir: join(archive, 'files'),
    keyPath: join(archive, 'inputs.key'),
  }
}

/** The state names private models and what each key used; everything below the public folder is served and copied. */
function assertNotPublished(stateDir: string, publicDir: string): void {
  if (!isInside(stateDir, publicDir)) return
  throw new UsageError(`DATA_DIR lies in PUBLIC_DIR ${publicDir}, where everything is published; give it another place`)
}
