import { copyFile, mkdir, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { PipelineConfig } from './config.ts'
import { Database, lock, UnreadableDatabaseError } from './database.ts'
import type { Effects } from './effects.ts'
import { UsageError } from './errors.ts'
import { isInside, namesIn } from './files.ts'

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
  const { publicDir, stateDir, archiveDir, keptDir } = foldersOf(config)
  await files.makeFolder(publicDir)
  await files.makeFolder(stateDir)
  const folder = join(stateDir, 'tmp')
  const database = await openState(stateDir, join(folder, 'spill'), config, effects)
  try {
    const publicLock = await lockPublic(publicDir)
    try {
      await files.remove(folder)
      await files.makeFolder(folder)
      const reach = [publicDir, stateDir, archiveDir, keptDir]
      return await work({ database, stateDir, archiveDir, keptDir, folder, publicDir, reach })
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
export function lockPublic(publicDir: string): ReturnType<typeof lock> {
  return lock(join(publicDir, '.lock'))
}

/**
 * The same for a build that publishes and keeps nothing: it works in a folder of its own below the system's temporary
 * one, takes no lock, and finds published and kept files as they are, if they are there at all. With `knowsNothing` it
 * takes nothing from the state, so that every raw file is read again.
 */
export async function withScratch<Result>(
  config: PipelineConfig,
  effects: Effects,
  work: (workspace: Workspace) => Promise<Result>,
  { knowsNothing = false } = {},
): Promise<Result> {
  const real = foldersOf(config)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-scratch-'))
  try {
    const [stateDir, keptDir] = [join(folder, 'state'), join(folder, 'kept')]
    await mirror(real.keptDir, keptDir)
    await mkdir(stateDir)
    if (!knowsNothing) await copyState(real.stateDir, stateDir)
    const database = await openState(stateDir, join(folder, 'spill'), config, effects)
    try {
      return await work({ ...real, database, stateDir, keptDir, folder, reach: [folder, ...Object.values(real)] })
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

/** Opens the state, or an empty one where what is there is none: it is a cache. */
async function openState(
  stateDir: string,
  temporaryFolder: string,
  { memoryLimit, threads }: PipelineConfig,
  { files, signal, report }: Effects,
): Promise<Database> {
  const path = join(stateDir, STATE_FILE)
  try {
    return await Database.open({ path, temporaryFolder, memoryLimit, threads, signal })
  } catch (error) {
    if (!(error instanceof UnreadableDatabaseError)) throw error
    report({ kind: 'notice', message: `${error.message}: it is made again, and all files are read` })
    for (const name of await namesIn(stateDir))
      if (name.startsWith(STATE_FILE)) await files.remove(join(stateDir, name))
    return Database.open({ path, temporaryFolder, memoryLimit, threads, signal })
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

function foldersOf(config: PipelineConfig): Pick<Workspace, 'publicDir' | 'stateDir' | 'archiveDir' | 'keptDir'> {
  const publicDir = resolve(config.publicDir)
  const stateDir = resolve(config.dataDir, 'state')
  assertNotPublished(stateDir, publicDir)
  const archiveDir = resolve(config.dataDir, 'archive/dates')
  return { publicDir, stateDir, archiveDir, keptDir: resolve(config.dataDir, 'archive/files') }
}

/** The state names private models and what each key used; everything below the public folder is served and copied. */
function assertNotPublished(stateDir: string, publicDir: string): void {
  if (!isInside(stateDir, publicDir)) return
  throw new UsageError(`DATA_DIR lies in PUBLIC_DIR ${publicDir}, where everything is published; give it another place`)
}
