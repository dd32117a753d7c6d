import type { Database } from '../base/database.ts'
import { isSampleFile, SAMPLE_SOURCES } from '../raw/sample/sources.ts'
import { Source } from '../raw/sources.ts'
import type { Archive } from './archive.ts'
import { hasSameSettings, readingOf } from './reading.ts'
import { forgetRejects } from './rejects.ts'
import { forgetEmptyDays, forgetFiles, listFiles, openState, type StateFile } from './state.ts'

/** Whether the state has only read the sample: all known logs were read with the sample's settings. */
export async function isStateOfSample(database: Database, archive: Archive): Promise<boolean> {
  await openForSample(database)
  const [main] = SAMPLE_SOURCES
  if (main === undefined) return false
  const own = readingOf(Source.parse(main.entry))
  const files = await filesOfSample(main.name, database, archive)
  return files.length > 0 && files.every(({ reading }) => hasSameSettings(reading, own))
}

/** Removes the sample's files from the state. They would otherwise be missing from real sources with the same names. */
export async function forgetSample(database: Database, archive: Archive): Promise<void> {
  await openForSample(database)
  for (const { name } of SAMPLE_SOURCES) {
    const files = await filesOfSample(name, database, archive)
    await database.transaction(async () => {
      await forgetFiles(database, files)
      await forgetEmptyDays(database)
      if (files.length > 0) await forgetRejects(database)
    })
  }
}

async function openForSample(database: Database): Promise<void> {
  await database.run('result/create_rollup')
  await openState(database)
}

async function filesOfSample(source: string, database: Database, archive: Archive): Promise<StateFile[]> {
  await archive.select(database, source)
  return (await listFiles(database)).filter(({ name }) => isSampleFile(source, name))
}
