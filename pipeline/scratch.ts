import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from './database.ts'

/** Runs `work` with a folder of its own below the system's temporary one, which is gone afterwards whatever happens. */
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

/** Runs `work` with an empty database that is gone afterwards. */
export async function withTemporaryDatabase<Result>(
  purpose: string,
  signal: AbortSignal,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withTemporaryFolder(purpose, async (folder) => {
    const temporaryFolder = join(folder, 'spill')
    await mkdir(temporaryFolder)
    const path = join(folder, `${purpose}.duckdb`)
    const database = await Database.open({ path, temporaryFolder, memoryLimit: undefined, signal })
    try {
      return await work(database)
    } finally {
      database.close()
    }
  })
}
