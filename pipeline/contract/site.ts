import { z } from 'zod'
import { ReleaseName } from './manifest.ts'
import { Timestamp } from './ranking.ts'

/** What signatures are made for: the namespace and the identity that `ssh-keygen -Y verify` takes. */
export const SIGNATURE_NAMESPACE = 'tokenboard'
export const SIGNER = 'publisher'

/** `site.json`: what a signature says of the whole public folder. Who has it signed can check every file. */
export const SignedSite = z.strictObject({
  dataset: z.literal('rankings-daily'),
  /** The current release. */
  release: ReleaseName,
  /** How many events `chain.json` has, and the hash of the newest. */
  events: z.int().positive(),
  head: z.string().regex(/^[0-9a-f]{64}$/),
  /** The `as_of` of the release, or the time of the build that renewed the signature. */
  issued: Timestamp,
  /** After this time the copy is stale: the publisher renews it when half of the time is over. */
  expires: Timestamp,
  /** SHA-256 of `SHA256SUMS`. */
  sha256sums: z.string().regex(/^[0-9a-f]{64}$/),
})
export type SignedSite = z.infer<typeof SignedSite>
