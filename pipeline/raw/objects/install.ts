import { Database, DUCKDB_VERSION } from '../../base/database.ts'
import { BuildError, reasonOf } from '../../base/errors.ts'
import { withTemporaryFolder } from '../../base/scratch.ts'

/** Which version of DuckDB the extension is for, and where it lies. */
export interface Installed {
  version: string
  path: string
}

/**
 * Has DuckDB download its extension httpfs into its own folder below HOME, unless it is there, and loads it to prove that
 * it works. Throws `BuildError` when it does not come.
 */
export async function installHttpfs(signal: AbortSignal): Promise<Installed> {
  return withTemporaryFolder('httpfs', async (temporaryFolder) => {
    // Other databases reach no network, no extension and no folder that they have nothing to do with.
    const database = await Database.open({ path: ':memory:', temporaryFolder, memoryLimit: undefined, signal })
    try {
      await database.run('objects/install')
      await database.run('objects/load')
      const [row] = await database.rows<{ install_path: string }>('objects/installed')
      return { version: DUCKDB_VERSION, path: row?.install_path ?? '' }
    } catch (error) {
      signal.throwIfAborted()
      throw new BuildError(`DuckDB's httpfs cannot be installed: ${reasonOf(error)}`, { cause: error })
    } finally {
      database.close()
    }
  })
}
