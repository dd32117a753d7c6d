import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../base/files.ts'
import { LATEST_PATH } from '../contract/published-paths.ts'
import { publishedFolders } from '../release/index.ts'

/** The folders in which a link may lead to a folder on a larger disk. */
const MAY_BE_LINKED = new Set(['.', ...publishedFolders('.')])

/**
 * What is in the public folder but folders, by its path. `isFile` is false of what is none, such as a link that leads nowhere.
 * Leaves out hidden names, and those of `latest` and of the paths in `gone`.
 */
export function* walkPublished(
  root: string,
  gone: ReadonlySet<string> = new Set(),
  folder = '.',
): Iterable<{ path: string; isFile: boolean }> {
  for (const entry of readFolder(join(root, folder))) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.') || path === LATEST_PATH || gone.has(path)) continue
    const found = entry.isSymbolicLink() ? statsOf(join(root, path)) : entry
    const isFolder = found?.isDirectory() === true && (entry.isDirectory() || MAY_BE_LINKED.has(folder))
    if (isFolder) yield* walkPublished(root, gone, path)
    else yield { path, isFile: found?.isFile() === true }
  }
}

/** Undefined for a link that leads nowhere, or to itself. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
