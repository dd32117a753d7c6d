import { dirname, join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { isThere, readTextIfAny } from '../base/files.ts'
import { counted } from '../base/numbers.ts'
import { FIRST_DATA_VERSION, type ReleaseIndex } from '../contract/manifest.ts'
import { INDEX_PATH } from '../contract/published-paths.ts'
import { type Chain, chooseChain, kindOfChain } from '../release/chain.ts'
import { copyFiles, publishedFiles } from './copy.ts'

/** Below `DATA_DIR`: chains that `build --new-chain` ended, named after their newest release. */
const PREVIOUS_CHAINS_FOLDER = 'previous-chains'

export interface ChosenChain extends Chain {
  /** Where the replaced releases are kept. Undefined for the sample, which is not kept. */
  keptIn: string | undefined
  /** A build reports it after the release is made: it may still fail before. */
  notice: string | undefined
}

interface Asked {
  config: PipelineConfig
  synthetic: boolean
  publicDir: string
  newChain: boolean
  completed: boolean
  dryRun: boolean
}

export async function findChain(index: ReleaseIndex, asked: Asked, { report }: Effects): Promise<ChosenChain> {
  const { config, synthetic, publicDir, newChain, completed, dryRun } = asked
  const startsAnew = newChain && !completed
  const kind = await kindOfChain(publicDir, index)
  const chain = chooseChain(kind, index, { publicDir, synthetic, startsAnew })
  if (newChain && completed) report({ kind: 'notice', message: COMPLETED })
  const newest = startsAnew ? chain.replaced.at(-1) : undefined
  const keptIn =
    newest === undefined
      ? undefined
      : await placeToKeep(publicDir, resolve(config.dataDir, PREVIOUS_CHAINS_FOLDER, newest))
  return { ...chain, keptIn, notice: startNotice(chain, { publicDir, keptIn, dryRun }) }
}

const COMPLETED = '--new-chain: this build completed the new chain of a build that was stopped, and starts no other'

function startNotice(
  { replaced }: Chain,
  { publicDir, keptIn, dryRun }: { publicDir: string; keptIn: string | undefined; dryRun: boolean },
): string | undefined {
  const starts = `this release ${dryRun ? 'would start' : 'starts'} a new chain at version ${FIRST_DATA_VERSION}`
  if (keptIn !== undefined)
    return `--new-chain: ${starts}; the previous chain ${dryRun ? 'would be' : 'is'} kept in ${keptIn}`
  if (replaced.length > 0) return `${publicDir} holds the synthetic sample alone: ${starts} and takes its place`
  return undefined
}

/** Where to keep a chain: `path`, or `path-2` and so on if taken. A copy of the same chain is replaced. */
async function placeToKeep(publicDir: string, path: string): Promise<string> {
  const indexOf = (folder: string) => readTextIfAny(join(folder, INDEX_PATH))
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
  const published = await publishedFiles(publicDir, { isPartial: true })
  const staging = `${target}.next`
  await files.remove(staging)
  await copyFiles(published, staging, effects)
  await files.remove(target)
  await files.rename(staging, target)
  await files.flush(dirname(dirname(target)))
  report({ kind: 'done', stage: 'keep', detail: `${counted(published.length, 'published file')} in ${target}` })
}
