import { join } from 'node:path'
import { type ReleaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { TOMBSTONE_FILE } from '../../pipeline/contract/tombstone.ts'
import { ApiError } from '../base/errors.ts'
import { sharedFingerprint } from '../base/followed-file.ts'

/** True if the release has a tombstone, even if other files remain. */
export async function isWithdrawn(publicDir: string, release: ReleaseName): Promise<boolean> {
  return (await sharedFingerprint(join(publicDir, releasePath(release), TOMBSTONE_FILE))) !== undefined
}

/** `more` is added to the metadata. */
export function withdrawn(release: ReleaseName, more: Record<string, string> = {}): ApiError {
  return new ApiError(410, `The release ${release} was withdrawn; its tombstone says why`, {
    tombstone: `/${releasePath(release)}/${TOMBSTONE_FILE}`,
    ...more,
  })
}
