import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../base/files.ts'

/**
 * What lies below a folder of the site and is none of `pages`, such as the page of a model that no release names any more:
 * files, and folders that would be empty without them. All paths are below the public folder.
 */
export async function strayPages(publicDir: string, folder: string, pages: readonly string[]): Promise<string[]> {
  const below = new Set(pages.filter((page) => page.startsWith(`${folder}/`)))
  const strays: string[] = []
  for (const entry of await entriesOf(join(publicDir, folder))) {
    const path = `${folder}/${entry.name}`
    const inside = entry.isDirectory() ? [...below].filter((page) => page.startsWith(`${path}/`)) : []
    if (inside.length > 0) strays.push(...(await strayPages(publicDir, path, inside)))
    else if (!below.has(path)) strays.push(path)
  }
  return strays
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
