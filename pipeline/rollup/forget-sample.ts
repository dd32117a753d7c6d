import type { Archive } from '../archive.ts'
import type { Database } from '../database.ts'
import { isSampleFile, SAMPLE_SOURCES } from '../sample/sources.ts'
import { forgetRejects } from './rejects.ts'
import { forgetFiles, forgetStrayDays, listFiles, openState } from './state.ts'

/**
 * Forgets the files of the sample. Sources of one's own may well be called like those of the sample, and its files would
 * then be missing from them.
 */
export async function forgetSample(database: Database, archive: Archive): Promise<void> {
  await database.run('rollup/create')
  await openState(database)
  for (const { name } of SAMPLE_SOURCES) {
    await archive.select(database, name)
    const files = (await listFiles(database)).filter((file) => isSampleFile(name, file.name))
    await database.transaction(async () => {
      await forgetFiles(database, files)
      await forgetStrayDays(database)
      if (files.length > 0) await forgetRejects(database)
    })
  }
}
