import { dirname, join } from 'node:path'
import { type Files, linkTarget, readTextIfAny } from '../files.ts'
import { isFolder } from './move.ts'

/** Below `PUBLIC_DIR`: where everything is put together, out of sight, on the file system where it will stand. */
export const STAGING_FOLDER = '.staging'

/** The folder that is published, and the file system's steps by which it changes. */
export interface PublicFolder {
  publicDir: string
  /** Where the publisher keeps what is not made of logs. */
  dataDir: string
  /** What is kept from build to build, for the maintainer alone. */
  stateDir: string
  files: Files
}

/** Writes a file out of sight and moves it over the old one, so that a reader sees the one or the other. */
export async function replace({ publicDir, files }: PublicFolder, path: string, text: string): Promise<void> {
  if ((await readTextIfAny(join(publicDir, path))) === text) return
  const next = join(publicDir, STAGING_FOLDER, 'next')
  await files.makeFolder(dirname(next))
  await files.write(next, text)
  await files.makeFolder(dirname(join(publicDir, path)))
  await files.rename(next, join(publicDir, path))
}

/** The same for a relative symbolic link. */
export async function replaceLink({ publicDir, files }: PublicFolder, path: string, target: string): Promise<void> {
  if ((await linkTarget(join(publicDir, path))) === target) return
  const next = join(publicDir, STAGING_FOLDER, 'next')
  await files.makeFolder(dirname(next))
  await files.remove(next)
  await files.link(target, next)
  // A copy that followed links left a folder there, which a rename would not replace.
  if (await isFolder(join(publicDir, path))) await files.remove(join(publicDir, path))
  await files.rename(next, join(publicDir, path))
}
