import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { PipelineConfig } from './config.ts'
import { Database, lock } from './database.ts'
import type { Effects } from './effects.ts'
import { UsageError } from './errors.ts'

/** What one build has to itself while it runs. */
export interface Workspace {
  database: Database
  /** What is kept from build to build, for the maintainer alone. */
  stateDir: string
  /** An empty folder, gone when the build ends. */
  folder: string
  publicDir: string
}

/**
 * Runs `work` with the data and the public folder locked against other builds, and tidies up whatever happens.
 * Throws `BuildError` when another build has one of them, `UsageError` when the one lies in the other.
 */
export async function withWorkspace<Result>(
  config: PipelineConfig,
  { files, signal }: Effects,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const publicDir = resolve(config.publicDir)
  const stateDir = resolve(config.dataDir, 'state')
  assertNotPublished(stateDir, publicDir)
  await files.makeFolder(publicDir)
  await files.makeFolder(stateDir)
  const folder = join(stateDir, 'tmp')
  const temporaryFolder = join(folder, 'spill')
  const path = join(stateDir, 'build.duckdb')
  const database = await Database.open({ path, temporaryFolder, memoryLimit: config.memoryLimit, signal })
  try {
    const publicLock = await lock(join(publicDir, '.lock'))
    try {
      await files.remove(folder)
      await files.makeFolder(folder)
      return await work({ database, stateDir, folder, publicDir })
    } finally {
      await publicLock.release()
    }
  } finally {
    // In this order: once the lock is given back, the folder belongs to whoever takes it next.
    await files.remove(folder)
    database.close()
  }
}

/**
 * The same for a build that publishes and keeps nothing: it works in a folder of its own below the system's temporary
 * one, takes no lock, and finds published and kept files as they are, if they are there at all; `stateDir` is only read.
 */
export async function withScratch<Result>(
  config: PipelineConfig,
  { files, signal }: Effects,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const publicDir = resolve(config.publicDir)
  const stateDir = resolve(config.dataDir, 'state')
  assertNotPublished(stateDir, publicDir)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-dry-run-'))
  try {
    const path = join(folder, 'build.duckdb')
    const temporaryFolder = join(folder, 'spill')
    const database = await Database.open({ path, temporaryFolder, memoryLimit: config.memoryLimit, signal })
    try {
      return await work({ database, stateDir, folder, publicDir })
    } finally {
      database.close()
    }
  } finally {
    await files.remove(folder)
  }
}

/** The state names private models and what each key used; everything below the public folder is served and copied. */
function assertNotPublished(stateDir: string, publicDir: string): void {
  const path = relative(publicDir, stateDir)
  if (path.split(sep)[0] === '..' || isAbsolute(path)) return
  throw new UsageError(`DATA_DIR lies in PUBLIC_DIR ${publicDir}, where everything is published; give it another place`)
}
