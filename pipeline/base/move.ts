import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Files, lstatIfAny, statsIfAny } from './files.ts'

/**
 * Moves a folder to where one of that name may stand already: what is new there comes with one rename, however much it
 * holds; what is there already is gone through, its sub-folders before its files, and files are replaced. A stop in
 * between leaves each file old or new. Where `to` is a link to a folder, what is new comes into that folder.
 */
export async function moveInto(files: Files, from: string, to: string): Promise<void> {
  if (!(await isFolder(from)) || !(await leadsToFolder(to))) return files.rename(from, to)
  const entries = await readdir(from, { withFileTypes: true })
  const names = (folders: boolean) =>
    entries
      .filter((entry) => entry.isDirectory() === folders)
      .map(({ name }) => name)
      .sort()
  for (const name of [...names(true), ...names(false)]) await moveInto(files, join(from, name), join(to, name))
}

export async function isFolder(path: string): Promise<boolean> {
  return (await lstatIfAny(path))?.isDirectory() ?? false
}

async function leadsToFolder(path: string): Promise<boolean> {
  return (await statsIfAny(path))?.isDirectory() ?? false
}
