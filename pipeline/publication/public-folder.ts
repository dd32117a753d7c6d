import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { type Files, isThere } from '../base/files.ts'
import type { Secret } from '../base/secret.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { STEPS as PLACED } from '../contract/published-paths.ts'
import type { Workspace } from '../rollup/workspace.ts'
import type { Signing } from './signing.ts'

export interface PublicFolder {
  publicDir: string
  dataDir: string
  stateDir: string
  files: Files
  report: Effects['report']
  /** The salt of a release's index entry: 64 hex digits, an HMAC-SHA256 (RFC 2104) of its name. */
  saltOf(release: ReleaseName): Promise<string>
  signing: Signing
}

/** The public folder of a workspace. */
export function openFolder(
  { publicDir, stateDir, secret }: Workspace,
  { dataDir }: Pick<PipelineConfig, 'dataDir'>,
  { files, report }: Effects,
  signing: Signing,
): PublicFolder {
  return { publicDir, dataDir, stateDir, files, report, saltOf: saltsOf(secret), signing }
}

function saltsOf(secret: Secret): PublicFolder['saltOf'] {
  return async (release) =>
    createHmac('sha256', await secret.keyFor('salts'))
      .update(release)
      .digest('hex')
}

/** Below `PUBLIC_DIR`, so that renames stay on one file system. Hidden. */
export const STAGING_FOLDER = '.staging'

export const STEPS = [...PLACED, 'leftovers'] as const
export type Step = (typeof STEPS)[number]

export function stagingRoot(publicDir: string, step: Step): string {
  return join(publicDir, STAGING_FOLDER, 'next', step)
}

/** Where a switch moves removed paths, under numbers, until it is done. */
export function removedFolder(publicDir: string): string {
  return join(publicDir, STAGING_FOLDER, 'removed')
}

/** Where the Parquet files of days and months are made before they are staged. */
export function periodsFolder(publicDir: string): string {
  return join(publicDir, STAGING_FOLDER, 'periods')
}

/** Exists from before the first rename of a switch until it is done. */
export const SWITCHING = join(STAGING_FOLDER, 'switching')

/** True while a switch is in progress or was stopped: the files may belong to two states. */
export function isSwitching(publicDir: string): Promise<boolean> {
  return isThere(join(publicDir, SWITCHING))
}

/** Returns an empty staging folder for a release. */
export async function openStaging(publicDir: string, release: ReleaseName, files: Files): Promise<string> {
  await closeStaging(publicDir, files)
  const folder = join(stagingRoot(publicDir, 'release'), releasePath(release))
  await files.makeFolder(folder)
  return folder
}

export async function closeStaging(publicDir: string, files: Files): Promise<void> {
  await files.remove(join(publicDir, STAGING_FOLDER))
}

/** After an error: keeps the mark of a stopped switch, so that the next build completes it. */
export async function abandonStaging(publicDir: string, files: Files): Promise<void> {
  if (!(await isSwitching(publicDir))) await closeStaging(publicDir, files)
}
