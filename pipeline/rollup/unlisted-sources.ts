import type { Database } from '../base/database.ts'
import { CliError } from '../base/errors.ts'
import type { Archive } from './archive.ts'
import type { RollupRequest } from './engine.ts'
import { forgetRejects } from './rejects.ts'
import { forgetEmptyDays, forgetFiles, listFiles } from './state.ts'

/** Removes the records of sources that are no longer listed. Their archive stays. */
export async function forgetUnlistedSources(
  request: RollupRequest,
  { database, archive }: { database: Database; archive: Archive },
): Promise<void> {
  const names = request.sources.usageSources.map(({ name }) => name)
  const missing = archive.sources.find((name) => !names.includes(name))
  if (missing !== undefined) {
    throw new CliError(
      `the archive has dates of source ${JSON.stringify(missing)}, which the sources file no longer lists; ` +
        'list it again: its files may be missing, and "visibility": "private" publishes nothing of it',
    )
  }
  const known = await database.rows<{ source: string }>('state/sources')
  for (const { source } of known.filter((entry) => !names.includes(entry.source))) {
    await archive.select(database, source)
    const files = await listFiles(database)
    await database.transaction(async () => {
      await forgetFiles(database, files)
      await forgetEmptyDays(database)
      await forgetRejects(database)
    })
    const kept = files.some((file) => file.kept !== null) ? '; kept records of missing files stay in the archive' : ''
    request.onNotice(`source ${JSON.stringify(source)} is no longer listed: its records are not counted${kept}`)
  }
}
