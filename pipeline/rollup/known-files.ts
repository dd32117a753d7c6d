import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import { Database, type DatabaseOptions } from '../base/database.ts'
import { BuildError, reasonOf } from '../base/errors.ts'
import { statsIfAny } from '../base/files.ts'
import { formatBytes } from '../base/numbers.ts'
import { withTemporaryFolder } from '../base/scratch.ts'
import type { Stamp } from '../raw/files/find.ts'
import { STATE_FILE } from './state-file.ts'

/** By source, the raw files that the state has read, by name. */
export type KnownFiles = ReadonlyMap<string, ReadonlyMap<string, Stamp>>

/** A larger state would take too long to copy for a look at it. */
const LARGEST_STATE = 2 ** 30

/**
 * The raw files that builds have read, from a copy of the state: to open the state itself would lock it. Empty if there is
 * no state. Throws `BuildError` if the state is too large to copy or cannot be read.
 */
export async function readKnownFiles(
  { dataDir }: Pick<PipelineConfig, 'dataDir'>,
  signal: AbortSignal,
  largest = LARGEST_STATE,
): Promise<KnownFiles> {
  const path = resolve(dataDir, 'state', STATE_FILE)
  const size = (await statsIfAny(path))?.size
  if (size === undefined) return new Map()
  if (size > largest) throw new BuildError(`${path} has ${formatBytes(size)}, too much to look for new files in it`)
  return withTemporaryFolder('status', async (folder) => {
    const copy = join(folder, STATE_FILE)
    await copyFile(path, copy)
    if (((await statsIfAny(`${path}.wal`))?.size ?? 0) > 0) await copyFile(`${path}.wal`, `${copy}.wal`)
    const options = { path: copy, temporaryFolder: join(folder, 'spill'), memoryLimit: undefined, threads: 1, signal }
    try {
      return await listKnown(options)
    } catch (error) {
      signal.throwIfAborted()
      const reason = reasonOf(error).replaceAll(copy, path)
      throw new BuildError(`new files cannot be told from others: ${reason}`, { cause: error })
    }
  })
}

async function listKnown(options: DatabaseOptions): Promise<KnownFiles> {
  const database = await Database.open(options)
  try {
    return await presentFiles(database)
  } finally {
    database.close()
  }
}

async function presentFiles(database: Database): Promise<KnownFiles> {
  const tables = await database.rows<{ name: string }>('state/files_table')
  if (tables.length === 0) return new Map()
  type Row = { source: string; name: string; bytes: bigint; modified: bigint }
  const rows = await database.rows<Row>('state/present_files')
  return new Map(
    [...Map.groupBy(rows, ({ source }) => source)].map(([source, files]) => [
      source,
      new Map(files.map(({ name, bytes, modified }) => [name, { bytes: Number(bytes), modified }])),
    ]),
  )
}
