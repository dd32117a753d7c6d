import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openExclusively, UnreadableDatabaseError } from './database.ts'
import { isMissing } from './files.ts'
import { withTemporaryFolder } from './scratch.ts'

/** What one process has and no other, until it is released or the process ends in any way. */
export interface Lock {
  release(): Promise<void>
}

/**
 * Takes the lock at `path`, a file of its own: DuckDB locks a file that it has open, and the operating system drops the
 * lock with the process. Throws `BuildError` when another process has it. The file is removed before the lock is given
 * back, when nothing is left to be guarded.
 */
export async function lock(path: string): Promise<Lock> {
  const instance = await openOrMend(path)
  return {
    async release() {
      await rm(path, { force: true })
      instance.closeSync()
    },
  }
}

/**
 * Whoever was stopped while the file was made, by a full disk perhaps, left a part of it that DuckDB does not open. Its
 * bytes are mended where they lie: a new file in its place would be another lock, beside one that somebody may have by now.
 */
async function openOrMend(path: string) {
  try {
    return await openExclusively(path)
  } catch (error) {
    if (!(error instanceof UnreadableDatabaseError)) throw error
    await mend(path)
    return openExclusively(path)
  }
}

async function mend(path: string): Promise<void> {
  try {
    await writeFile(path, await emptyDatabase(), { flag: 'r+' })
  } catch (error) {
    // Whoever had it is done with it, and has removed it.
    if (!isMissing(error)) throw error
  }
}

async function emptyDatabase(): Promise<Buffer> {
  return withTemporaryFolder('lock', async (folder) => {
    const path = join(folder, 'empty.duckdb')
    const instance = await openExclusively(path)
    instance.closeSync()
    return readFile(path)
  })
}
