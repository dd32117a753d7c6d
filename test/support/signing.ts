import type { Timestamp } from '../../pipeline/contract/ranking.ts'
import type { Signing } from '../../pipeline/publication/signing.ts'

/** A folder without a signing key. */
export function unsigned(at: Timestamp, signal: AbortSignal): Signing {
  return { at, signal, days: 30, key: undefined, rotateWith: undefined, accepted: [], tsaUrl: undefined }
}
