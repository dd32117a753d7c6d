import { dirname, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, isThere, namesIn } from '../base/files.ts'
import { type Manifest, releasePath } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { type DataFile, dataFiles, MANIFEST_FILE } from '../contract/release-files.ts'
import { tablesIn } from '../contract/tables.ts'
import type { PublicLists } from '../ledger/fold.ts'
import { currentEntry } from '../release/index.ts'
import { readTables, writeTable } from '../release/remake.ts'
import type { NextTree } from './next-tree.ts'
import { periodsFolder, removedFolder, stagingRoot } from './public-folder.ts'

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

/** Where the folder of the current release is: in place, or in the staging folder that a stopped command left. */
export async function placeOfCurrent(
  publicDir: string,
  { index }: PublicLists,
): Promise<{ path: string; isStaged: boolean } | undefined> {
  const current = currentEntry(index)
  if (current === undefined) return undefined
  const path = releasePath(current.release)
  for (const root of [publicDir, stagingRoot(publicDir, 'release')]) {
    const manifest = join(root, path, MANIFEST_FILE)
    if (!(await isThere(manifest)) || (await hashFile(manifest)).sha256 !== current.manifest_sha256) continue
    return { path, isStaged: root !== publicDir }
  }
  return undefined
}

/** Has a tree find the current release, and removes all else from the staging folder. Throws `BuildError` if it is nowhere. */
export async function resumeStaging(tree: NextTree, published: PublicLists): Promise<void> {
  const { publicDir, files } = tree.folder
  const found = await placeOfCurrent(publicDir, published)
  if (found === undefined) {
    const path = join(publicDir, releasePath(currentEntry(published.index)?.release ?? ''))
    throw new BuildError(`${path} is missing or was changed; restore it from a copy or a backup`)
  }
  if (found.isStaged) tree.adopt(found.path)
  else tree.keep(found.path)
  const steps = dirname(stagingRoot(publicDir, 'release'))
  const left = (await namesIn(steps)).filter((step) => step !== 'release' || !found.isStaged)
  const others = [removedFolder(publicDir), periodsFolder(publicDir)]
  for (const path of [...others, ...left.map((step) => join(steps, step))]) await files.remove(path)
}

async function verifySame(staging: string, name: DataFile, { release, files, generator }: Manifest): Promise<void> {
  const listed = files.find(({ path }) => path === name)
  if ((await hashFile(join(staging, name))).sha256 === listed?.sha256) return
  throw new BuildError(
    `release ${release} would become current, but it was dropped, and its ${name} cannot be made again with the bytes that ` +
      `version ${generator.version} wrote: build another release first`,
  )
}
