import { readdir, readlink, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import type { PipelineConfig } from '../base/config.ts'
import { ifAny, isInside, lstatIfAny, namesIn, readTextIfAny, statsIfAny } from '../base/files.ts'
import { jsonIfAny, withoutMark } from '../base/json.ts'
import { CATALOGUE_FILE } from '../contract/embeddings-catalogue.ts'
import { OVERLAPS_FILE } from '../dataset/overlapping-sources.ts'
import { TRIAL_FILE } from '../deposit/state.ts'
import { PREVIOUS_CHAINS_FOLDER } from '../publication/chosen-chain.ts'
import { DEPOSITS_FILE } from '../release/deposits.ts'
import { sourcesPath } from '../rollup/intake.ts'

/** What Tokenboard or its maintainer writes into DATA_DIR and no build can make again. Signing keys are not in it. */
const KEPT_OF_DATA = [
  'archive',
  'disclosure',
  'provenance',
  PREVIOUS_CHAINS_FOLDER,
  'publisher.json',
  CATALOGUE_FILE,
  DEPOSITS_FILE,
  OVERLAPS_FILE,
  TRIAL_FILE,
]

/** Temporary, or copied from a bucket. */
const NOT_OF_STATE = ['tmp', 'objects']

/** A file or a link to back up. */
export interface BackupEntry {
  from: string
  /** Below the backup. */
  path: string
  /** Where a link leads; undefined for a file. */
  target?: string
}

/** What is backed up except the store, as files and folders: what lasts of DATA_DIR, the configuration, and PUBLIC_DIR. */
export async function backupRoots(config: PipelineConfig): Promise<BackupEntry[]> {
  const dataDir = resolve(config.dataDir)
  const { sources, files, keepsMissing } = await configuration(resolve(sourcesPath(config)))
  const state = keepsMissing ? await namesIn(join(dataDir, 'state')) : []
  const names = [
    ...KEPT_OF_DATA,
    ...state.filter((name) => !NOT_OF_STATE.includes(name)).map((name) => join('state', name)),
  ]
  return [
    ...names.map((name) => ({ from: join(dataDir, name), path: join('data', name) })),
    ...files.map((from) => ({ from, path: placeOf(from, sources, dataDir) })),
    { from: resolve(config.publicDir), path: 'public' },
  ]
}

/** The files and links of these. */
export async function backupEntries(roots: readonly BackupEntry[]): Promise<BackupEntry[]> {
  const found = await Promise.all(roots.map(({ from, path }) => Array.fromAsync(walk(from, path, from))))
  return [...new Map(found.flat().map((entry) => [entry.path, entry])).values()]
}

const Named = z.looseObject({
  models: z.string().optional().catch(undefined),
  aliases: z.string().optional().catch(undefined),
  on_missing: z.unknown().optional(),
})

/** The sources file and the files that it names, as far as they can be read: a backup is needed most when something is wrong. */
async function configuration(sources: string) {
  const text = await readTextIfAny(sources)
  const { models, aliases, on_missing } = Named.safeParse(jsonIfAny(withoutMark(text ?? ''))).data ?? {}
  const named = [models, aliases].filter((file) => file !== undefined && file !== '')
  const files = [sources, ...named.map((file) => resolve(dirname(sources), file ?? ''))]
  return { sources, files, keepsMissing: on_missing === 'keep' }
}

/** Files of the same name in different folders must not meet, so those that are elsewhere keep their whole path. */
function placeOf(file: string, sources: string, dataDir: string): string {
  if (isInside(file, dataDir)) return join('data', relative(dataDir, file))
  const folder = dirname(sources)
  return join('config', isInside(file, folder) ? relative(folder, file) : join('elsewhere', file))
}

/** Links that lead out of `root`, such as to another disk, are followed. Locks and temporary files are left out. */
async function* walk(from: string, path: string, root: string): AsyncIterable<BackupEntry> {
  const stats = await lstatIfAny(from)
  if (stats?.isSymbolicLink()) {
    const end = await ifAny(() => realpath(from))
    if (from !== root && (end === undefined || isInside(end, root))) {
      yield { from, path, target: await readlink(from) }
      return
    }
  }
  const followed = await statsIfAny(from)
  if (followed?.isFile()) yield { from, path }
  if (!followed?.isDirectory()) return
  for (const name of (await readdir(from)).toSorted()) {
    if (!(name === '.lock' || name.endsWith('.next'))) yield* walk(join(from, name), join(path, name), root)
  }
}
