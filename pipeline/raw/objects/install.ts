import { Database, DUCKDB_VERSION } from '../../base/database.ts'
import { BuildError, reasonOf } from '../../base/errors.ts'
import { withTemporaryFolder } from '../../base/scratch.ts'

export interface Installed {
  version: string
  path: string
}

/** Lets DuckDB download httpfs below HOME, unless it is there, and load it. Throws `BuildError`. */
export async function installHttpfs(signal: AbortSignal): Promise<Installed> {
  return withTemporaryFolder('httpfs', async (temporaryFolder) => {
    // Other databases are confined and cannot use the network or extensions.
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
