import type { Files } from '../base/files.ts'

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
