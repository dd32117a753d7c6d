import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from './database.ts'

export async function withTemporaryFolder<Result>(
  purpose: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), `tokenboard-${purpose}-`))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Runs `work` with an empty temporary database that can only access files below `folders`. It has one thread: the files of
 * releases are too small to be read by several.
 */
export async function withTemporaryDatabase<Result>(
  purpose: string,
  { signal, folders }: { signal: AbortSignal; folders: readonly string[] },
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withTemporaryFolder(purpose, async (folder) => {
    const temporaryFolder = join(folder, 'spill')
    await mkdir(temporaryFolder)
    const options = { path: ':memory:', temporaryFolder, memoryLimit: undefined, threads: 1 }
    const database = await Database.open({ ...options, signal })
    try {
      await database.confine(folders)
      return await work(database)
    } finally {
      database.close()
    }
  })
}
