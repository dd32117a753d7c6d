import { join } from 'node:path'
import { type Files, isThere } from '../base/files.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { STEPS as PLACED } from '../contract/published-paths.ts'

/** The folder that is published, and the file system's steps by which it changes. */
export interface PublicFolder {
  publicDir: string
  /** Where the publisher keeps what is not made of logs. */
  dataDir: string
  /** What is kept from build to build, for the maintainer alone. */
  stateDir: string
  files: Files
}

/** Below `PUBLIC_DIR`: where everything is put together, out of sight, on the file system where it will stand. */
export const STAGING_FOLDER = '.staging'

/** The steps of a switch. The last takes away what is left over. */
export const STEPS = [...PLACED, 'leftovers'] as const
export type Step = (typeof STEPS)[number]

/** Where everything is staged that a step puts in place, each at its path. */
export function stagingRoot(publicDir: string, step: Step): string {
  return join(publicDir, STAGING_FOLDER, 'next', step)
}

/** Where a switch puts what is in the way, each at its path, so that it can be put back. */
export function asideFolder(publicDir: string): string {
  return join(publicDir, STAGING_FOLDER, 'aside')
}

/** Where a switch puts what it takes away, under numbers, until all is done. */
export function goneFolder(publicDir: string): string {
  return join(publicDir, STAGING_FOLDER, 'gone')
}

/** It is there from before the first rename of a switch until all is done. */
export const SWITCHING = join(STAGING_FOLDER, 'switching')

/** Whether what is published may belong to two states: a switch is in progress, or was stopped. */
export function isSwitching(publicDir: string): Promise<boolean> {
  return isThere(join(publicDir, SWITCHING))
}

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

/** The same after an error. What shows that a switch was stopped halfway stays for the next build, which completes it. */
export async function abandonStaging(publicDir: string, files: Files): Promise<void> {
  if (!(await isSwitching(publicDir))) await closeStaging(publicDir, files)
}
