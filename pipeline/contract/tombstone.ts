import { z } from 'zod'
import { ReleaseEntry, ReleaseName, Withdrawal } from './manifest.ts'
import { Timestamp } from './ranking.ts'

export const TOMBSTONE_FILE = 'TOMBSTONE.json'

/**
 * Replaces the files of a withdrawn release: identifies copies of it and says why it was withdrawn. After a privacy
 * withdrawal it has no hashes.
 */
export const Tombstone = z.strictObject({
  dataset: z.literal('rankings-daily'),
  release: ReleaseName,
  as_of: Timestamp,
  ...Withdrawal.shape,
  manifest_sha256: ReleaseEntry.shape.manifest_sha256,
  content_hash: ReleaseEntry.shape.content_hash,
})
export type Tombstone = z.infer<typeof Tombstone>

export function tombstoneOf(entry: ReleaseEntry, { withdrawn_at, reason }: Withdrawal): Tombstone {
  const { release, as_of, manifest_sha256, content_hash } = entry
  return { dataset: 'rankings-daily', release, as_of, withdrawn_at, reason, manifest_sha256, content_hash }
}
