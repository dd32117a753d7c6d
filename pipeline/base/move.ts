import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Files, lstatIfAny, statsIfAny } from './files.ts'

/**
 * Moves a folder into an existing one, or to a new place. New entries take one rename each; existing folders are
 * merged, sub-folders before files, and files replaced. A stop leaves each file old or new. `to` may link to a folder.
 * The files of a folder are flushed together.
 */
export async function moveInto(files: Files, from: string, to: string, isMore = false): Promise<void> {
  if (!(await isFolder(from)) || !(await leadsToFolder(to))) return files.rename(from, to, isMore)
  const entries = await readdir(from, { withFileTypes: true })
  const names = (folders: boolean) =>
    entries
      .filter((entry) => entry.isDirectory() === folders)
      .map(({ name }) => name)
      .sort()
  for (const name of names(true)) await moveInto(files, join(from, name), join(to, name))
  const single = names(false)
  for (const [position, name] of single.entries()) {
    await moveInto(files, join(from, name), join(to, name), position < single.length - 1)
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return (await lstatIfAny(path))?.isDirectory() ?? false
}

async function leadsToFolder(path: string): Promise<boolean> {
  return (await statsIfAny(path))?.isDirectory() ?? false
}
