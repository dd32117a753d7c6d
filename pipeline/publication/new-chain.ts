import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { hashFile, linkTarget, namesIn, readTextIfAny, replaceFile, statsIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { isFolder, moveInto } from '../base/move.ts'
import { ReleaseEntry, type ReleaseIndex, ReleaseName, releasePath } from '../contract/manifest.ts'
import { PERIOD_FOLDERS, POINTER_PATH } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { NextTree } from './next-tree.ts'
import { asideFolder, goneFolder, type PublicFolder, STAGING_FOLDER } from './public-folder.ts'

/**
 * A switch to a new chain of releases that is under way: the first release of the new chain, and the releases of the
 * previous one, which go. It is on disk from before the first rename until all is done.
 */
const NewChain = z.strictObject({
  release: ReleaseName,
  manifest_sha256: ReleaseEntry.shape.manifest_sha256,
  replaced: z.array(ReleaseName),
})
export type NewChain = z.infer<typeof NewChain>

const NEW_CHAIN_FILE = join(STAGING_FOLDER, 'new-chain.json')

/** The switch to a new chain that a build has begun, if any. */
export async function readNewChain(publicDir: string): Promise<NewChain | undefined> {
  const path = join(publicDir, NEW_CHAIN_FILE)
  const text = await readTextIfAny(path)
  return text === undefined ? undefined : parseJson(NewChain, text, path, BuildError)
}

/** Whether the history is that of the new chain: then the switch to it was completed, and not undone. */
export function isCompleted({ manifest_sha256 }: NewChain, { releases }: ReleaseIndex): boolean {
  return releases.some((entry) => entry.manifest_sha256 === manifest_sha256)
}

/** Notes on disk that the switch begins: from here on a stop is completed or undone by the next build. */
export async function beginNewChain({ publicDir, files }: PublicFolder, chain: NewChain): Promise<void> {
  await files.makeFolder(dirname(join(publicDir, NEW_CHAIN_FILE)))
  await replaceFile(files, join(publicDir, NEW_CHAIN_FILE), toJson(chain))
  // The staging folder is new itself: a power cut must not leave the first rename without the note.
  await files.flush(publicDir)
}

/** Has a switch take away the previous chain: its days and months as the new ones come, its releases at the end. */
export async function replaceChain(
  tree: NextTree,
  release: ReleaseName,
  replaced: readonly ReleaseName[],
): Promise<void> {
  for (const previous of replaced) {
    if (previous !== release) await tree.remove(releasePath(previous), 'leftovers')
  }
  if (replaced.includes(release)) {
    // Of equal names the pointer of the one would lead to the other.
    await tree.makeWay(POINTER_PATH, 'release')
    await tree.makeWay(releasePath(release))
  }
  for (const folder of PERIOD_FOLDERS) {
    // The days and months of another chain have the same names.
    for (const path of await wholeOrLinked(tree.folder.publicDir, folder)) await tree.makeWay(path)
  }
}

/** A folder, or all that lies in it where a link leads to it: the link stays. */
async function wholeOrLinked(publicDir: string, folder: string): Promise<string[]> {
  if ((await linkTarget(join(publicDir, folder))) === undefined) return [folder]
  return (await namesIn(join(publicDir, folder))).map((name) => `${folder}/${name}`)
}

/** A tree in which an interrupted switch can be completed, where its release is in place. Otherwise undoes what it did. */
export async function resumeNewChain(folder: PublicFolder, chain: NewChain): Promise<NextTree | undefined> {
  const { publicDir, files } = folder
  const aside = asideFolder(publicDir)
  if (!(await isInPlace(publicDir, chain))) {
    if (await isFolder(aside)) await moveInto(files, aside, publicDir)
    return undefined
  }
  for (const name of [aside, goneFolder(publicDir), join(publicDir, STAGING_FOLDER, 'next')]) await files.remove(name)
  const tree = new NextTree(folder, { isNewChain: true })
  tree.keep(releasePath(chain.release))
  const others = chain.replaced.filter((release) => release !== chain.release)
  await replaceChain(tree, chain.release, others)
  return tree
}

async function isInPlace(publicDir: string, { release, manifest_sha256 }: NewChain): Promise<boolean> {
  const path = join(publicDir, releasePath(release), MANIFEST_FILE)
  return (await statsIfAny(path)) !== undefined && (await hashFile(path)).sha256 === manifest_sha256
}
