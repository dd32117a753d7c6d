import { join } from 'node:path'
import type { Files } from '../base/files.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { readNewChain } from './new-chain.ts'
import { stagingRoot } from './next-tree.ts'
import { STAGING_FOLDER } from './public-folder.ts'

/** An empty folder to put a release together in. */
export async function openStaging(publicDir: string, release: ReleaseName, files: Files): Promise<string> {
  await closeStaging(publicDir, files)
  const folder = join(stagingRoot(publicDir, 'release'), releasePath(release))
  await files.makeFolder(folder)
  return folder
}

/** Removes what a build has put together, if anything is left of it. */
export async function closeStaging(publicDir: string, files: Files): Promise<void> {
  await files.remove(join(publicDir, STAGING_FOLDER))
}

/** The same after an error. What a switch to a new chain has begun stays for the next build, which completes it. */
export async function abandonStaging(publicDir: string, files: Files): Promise<void> {
  if ((await readNewChain(publicDir)) === undefined) await closeStaging(publicDir, files)
}
