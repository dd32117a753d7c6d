import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sideBySide } from '../base/side-by-side.ts'

export interface PublishedSize {
  files: number
  bytes: number
}

/** Sums all files below the public folder. Links are not followed. */
export async function measure(publicDir: string): Promise<PublishedSize> {
  const entries = await readdir(publicDir, { withFileTypes: true, recursive: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== '.lock')
    .map((entry) => join(entry.parentPath, entry.name))
  const sizes = await sideBySide(paths, async (path) => (await stat(path)).size)
  return { files: paths.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}
