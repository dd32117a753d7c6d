import { createHmac } from 'node:crypto'
import type { Secret } from '../base/secret.ts'
import type { ReleaseName } from '../contract/manifest.ts'

/** The salt of a release's index entry: 64 hex digits, an HMAC-SHA256 (RFC 2104) of its name. */
export type SaltOf = (release: ReleaseName) => Promise<string>

export function saltsOf(secret: Secret): SaltOf {
  return async (release) =>
    createHmac('sha256', await secret.keyFor('salts'))
      .update(release)
      .digest('hex')
}
