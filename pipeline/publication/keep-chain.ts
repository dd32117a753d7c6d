import { dirname, join } from 'node:path'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { isThere, readTextIfAny } from '../base/files.ts'
import { DATASET_PATH, type ReleaseEntry } from '../contract/manifest.ts'
import { INDEX_FILE } from '../contract/published-paths.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { copyEntries, publishedEntries } from './published.ts'

/** Below `DATA_DIR`: chains that `build --new-chain` ended, named after their newest release. */
export const PREVIOUS_CHAINS_FOLDER = 'previous-chains'

/** Where to keep a chain: `path`, or `path-2` and so on if taken. A copy of the same chain is replaced. */
export async function placeToKeep(publicDir: string, path: string): Promise<string> {
  const indexOf = (folder: string) => readTextIfAny(join(folder, DATASET_PATH, INDEX_FILE))
  const index = await indexOf(publicDir)
  const isFree = async (place: string) => !(await isThere(place)) || (await indexOf(place)) === index
  for (let number = 1; ; number += 1) {
    const place = number === 1 ? path : `${path}-${number}`
    if (await isFree(place)) return place
  }
}

/** Copies everything published to `target`, which appears complete. Replaces what a stopped build left there. */
export async function keepChain(publicDir: string, target: string, effects: Effects): Promise<void> {
  const { files, report } = effects
  const { release } = await currentOf(publicDir)
  const entries = await publishedEntries(publicDir, release, true)
  const staging = `${target}.next`
  await files.remove(staging)
  await copyEntries(entries, staging, effects)
  await files.remove(target)
  await files.rename(staging, target)
  await files.flush(dirname(dirname(target)))
  report({ kind: 'done', stage: 'keep', detail: `${entries.length} published files in ${target}` })
}

async function currentOf(publicDir: string): Promise<ReleaseEntry> {
  const current = currentEntry(await readIndex(publicDir))
  if (current !== undefined) return current
  throw new BuildError(`${publicDir} holds no release`)
}
