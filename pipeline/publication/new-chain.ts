import { join } from 'node:path'
import { isThere, linkTarget, namesIn } from '../base/files.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { PERIOD_FOLDERS, POINTER_PATH } from '../contract/published-paths.ts'
import type { NextTree } from './next-tree.ts'

/** Schedules removal of what is in the way of a new chain, which begins with a release that may have the name of an old one. */
export async function replaceChain(tree: NextTree, first: ReleaseName): Promise<void> {
  const { publicDir } = tree.folder
  const place = releasePath(first)
  if (tree.rootOf(place) !== publicDir && (await isThere(join(publicDir, place)))) {
    // With equal names, the old pointer would lead to the new release.
    await tree.outdate(POINTER_PATH, 'release')
    await tree.outdate(place)
  }
  for (const folder of PERIOD_FOLDERS) {
    for (const path of await wholeOrLinked(publicDir, folder)) await tree.outdate(path)
  }
}

/** If the folder is a link, its contents, so that the link stays. */
async function wholeOrLinked(publicDir: string, folder: string): Promise<string[]> {
  if ((await linkTarget(join(publicDir, folder))) === undefined) return [folder]
  return (await namesIn(join(publicDir, folder))).map((name) => `${folder}/${name}`)
}
