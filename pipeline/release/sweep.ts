import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../files.ts'
import type { PublicFolder } from './replace.ts'

/**
 * Removes what an earlier build left below a folder of the site and this one does not make, such as the page of a model
 * that no release names any more, and folders that are then empty. `pages` are paths below the public folder.
 */
export async function sweep(
  root: Pick<PublicFolder, 'publicDir' | 'files'>,
  folder: string,
  pages: readonly string[],
): Promise<void> {
  const { publicDir, files } = root
  const below = new Set(pages.filter((page) => page.startsWith(`${folder}/`)))
  for (const entry of await entriesOf(join(publicDir, folder))) {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) {
      if (!below.has(path)) await files.remove(join(publicDir, path))
      continue
    }
    const inside = [...below].filter((page) => page.startsWith(`${path}/`))
    if (inside.length > 0) await sweep(root, path, inside)
    else await files.remove(join(publicDir, path))
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
