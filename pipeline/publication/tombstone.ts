import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { namesIn } from '../base/files.ts'
import { DISCLOSURE_FILE } from '../contract/disclosure-file.ts'
import { type ReleaseEntry, type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { INDEX_PATH } from '../contract/published-paths.ts'
import { TOMBSTONE_FILE } from '../contract/tombstone.ts'
import { inputListPath } from '../release/inputs.ts'
import { PAGE_FILE } from '../site/release-page.ts'
import { strayFiles, verifyFile } from './compare.ts'
import type { NextTree } from './next-tree.ts'
import type { PublicFolder } from './public-folder.ts'
import { releaseEntries } from './publication.ts'

/** Removes the files of withdrawn releases, but for tombstones and pages. */
export async function removeWithdrawn(tree: NextTree, { releases }: ReleaseIndex): Promise<void> {
  for (const { release } of releases.filter(({ status }) => status === 'withdrawn')) {
    const names = (await namesIn(join(tree.folder.publicDir, releasePath(release)))).sort()
    for (const name of names) {
      if (name !== TOMBSTONE_FILE && name !== PAGE_FILE)
        await tree.remove(`${releasePath(release)}/${name}`, 'leftovers')
    }
  }
}

/** Removes the names of the files that erased releases were made from, and what the last build said of customers. */
export async function eraseInputs(
  { dataDir, stateDir, files }: PublicFolder,
  releases: readonly ReleaseName[],
): Promise<void> {
  for (const name of releases) await files.remove(inputListPath(dataDir, name))
  await files.remove(join(stateDir, DISCLOSURE_FILE))
}

/** Throws `BuildError` unless a withdrawn release has its tombstone and nothing else, but for a page. */
export async function verifyWithdrawn(root: string, entry: ReleaseEntry): Promise<void> {
  const entries = releaseEntries(entry, undefined)
  if (entries.length === 0)
    throw new BuildError(`${join(root, INDEX_PATH)} does not say why ${entry.release} is withdrawn`)
  for (const each of entries) await verifyFile(root, each)
  const [left] = await strayFiles(root, [releasePath(entry.release)], entries)
  if (left === undefined) return
  throw new BuildError(`${join(root, left)} is published, but its release was withdrawn; make build removes it`)
}
