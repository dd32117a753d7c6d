import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { hashFile, linkTarget, namesIn, readTextIfAny, replaceFile, statsIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { isFolder, moveInto } from '../base/move.ts'
import { hashesOf, type ReleaseIndex, ReleaseName, releasePath } from '../contract/manifest.ts'
import { PERIOD_FOLDERS, POINTER_PATH } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { NextTree } from './next-tree.ts'
import { asideFolder, type PublicFolder, removedFolder, STAGING_FOLDER } from './public-folder.ts'

/** A switch to a new chain in progress. On disk from before the first rename until the switch is done. */
const NewChain = z.strictObject({
  release: ReleaseName,
  manifest_sha256: z.string(),
  replaced: z.array(ReleaseName),
})
type NewChain = z.infer<typeof NewChain>

const NEW_CHAIN_FILE = join(STAGING_FOLDER, 'new-chain.json')

export async function readNewChain(publicDir: string): Promise<NewChain | undefined> {
  const path = join(publicDir, NEW_CHAIN_FILE)
  const text = await readTextIfAny(path)
  return text === undefined ? undefined : parseJson(NewChain, text, path, BuildError)
}

/** Records the switch on disk. From here on the next build completes or undoes it after a stop. */
export async function beginNewChain(
  { publicDir, files }: PublicFolder,
  { releases }: ReleaseIndex,
  replaced: readonly ReleaseName[],
): Promise<void> {
  const [first] = releases
  if (first === undefined) throw new Error('a new chain begins with a release')
  const { release } = first
  const { manifest_sha256 } = hashesOf(first)
  await files.makeFolder(dirname(join(publicDir, NEW_CHAIN_FILE)))
  await replaceFile(files, join(publicDir, NEW_CHAIN_FILE), toJson({ release, manifest_sha256, replaced }))
  // The staging folder is new: a power cut must not keep the first rename and lose this file.
  await files.flush(publicDir)
}

/** Schedules removal of the previous chain: days and months before the new ones are placed, releases at the end. */
export async function replaceChain(
  tree: NextTree,
  release: ReleaseName,
  replaced: readonly ReleaseName[],
): Promise<void> {
  for (const previous of replaced) {
    if (previous !== release) await tree.remove(releasePath(previous), 'leftovers')
  }
  if (replaced.includes(release)) {
    // With equal names, the old pointer would lead to the new release.
    await tree.makeWay(POINTER_PATH, 'release')
    await tree.makeWay(releasePath(release))
  }
  for (const folder of PERIOD_FOLDERS) {
    for (const path of await wholeOrLinked(tree.folder.publicDir, folder)) await tree.makeWay(path)
  }
}

/** If the folder is a link, its contents, so that the link stays. */
async function wholeOrLinked(publicDir: string, folder: string): Promise<string[]> {
  if ((await linkTarget(join(publicDir, folder))) === undefined) return [folder]
  return (await namesIn(join(publicDir, folder))).map((name) => `${folder}/${name}`)
}

/** Returns a tree to complete an interrupted switch if its release is in place. Otherwise undoes the switch. */
export async function resumeNewChain(folder: PublicFolder, chain: NewChain): Promise<NextTree | undefined> {
  const { publicDir, files } = folder
  const aside = asideFolder(publicDir)
  if (!(await isInPlace(publicDir, chain))) {
    if (await isFolder(aside)) await moveInto(files, aside, publicDir)
    return undefined
  }
  for (const name of [aside, removedFolder(publicDir), join(publicDir, STAGING_FOLDER, 'next')])
    await files.remove(name)
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
