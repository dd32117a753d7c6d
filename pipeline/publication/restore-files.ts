import { dirname, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, namesIn } from '../base/files.ts'
import { type Manifest, releasePath } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { type DataFile, dataFiles } from '../contract/release-files.ts'
import { tablesIn } from '../contract/tables.ts'
import { readTables, writeTable } from '../release/remake.ts'
import type { NextTree } from './next-tree.ts'

/**
 * If the release that becomes current was dropped, because a withdrawal makes it current again, stages its data files from the published history. Throws `BuildError` if that does not give the same bytes.
 */
export async function currentDataFiles(tree: NextTree, manifest: Manifest, database: Database): Promise<void> {
  const place = releasePath(manifest.release)
  const folder = tree.pathOf(place)
  const names = tablesIn(manifest).flatMap((table) => dataFiles(table).map(({ path }) => path))
  const present = await namesIn(folder)
  if (names.every((name) => present.includes(name))) return
  const staged = await Promise.all(names.map((name) => tree.reserve(`${place}/${name}`)))
  const staging = dirname(staged[0] ?? '')
  const history = join(tree.folder.publicDir, HISTORY_PATHS.parquet)
  const rows = await readTables(database, history, manifest)
  for (const table of tablesIn(manifest)) {
    const made = await writeTable(database, staging, { table, manifest, rows }, tree.folder.files)
    for (const name of made) await verifySame(staging, name, manifest)
  }
}

async function verifySame(staging: string, name: DataFile, { release, files, generator }: Manifest): Promise<void> {
  const listed = files.find(({ path }) => path === name)
  if ((await hashFile(join(staging, name))).sha256 === listed?.sha256) return
  throw new BuildError(
    `release ${release} would become current, but it was dropped, and its ${name} cannot be made again with the bytes that ` +
      `version ${generator.version} wrote: build another release first`,
  )
}
