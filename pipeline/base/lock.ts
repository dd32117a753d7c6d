import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openExclusively, UnreadableDatabaseError } from './database.ts'
import { isMissing } from './files.ts'
import { withTemporaryFolder } from './scratch.ts'

/** A lock held by one process, until released or until the process ends. */
export interface Lock {
  release(): Promise<void>
}

/** Opens `path` with DuckDB, whose file lock ends with the process. Throws `BuildError` if another process has it. */
export async function lock(path: string): Promise<Lock> {
  const instance = await openOrMend(path)
  return {
    async release() {
      await rm(path, { force: true })
      instance.closeSync()
    },
  }
}

/** Repairs the file of a stopped process in place: a new file would be a second lock beside one already taken. */
async function openOrMend(path: string) {
  try {
    return await openExclusively(path)
  } catch (error) {
    if (!(error instanceof UnreadableDatabaseError)) throw error
    await repair(path)
    return openExclusively(path)
  }
}

async function repair(path: string): Promise<void> {
  try {
    await writeFile(path, await emptyDatabase(), { flag: 'r+' })
  } catch (error) {
    // Another process has just released and removed it.
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
