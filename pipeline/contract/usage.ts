import { z } from 'zod'
import { Timestamp } from './ranking.ts'
import { Usd } from './usd.ts'
import { UtcDate } from './utc-date.ts'

/**
 * Where a build leaves what each API key used, below `DATA_DIR`: private, for the server's store alone (API.md § GET
 * /key). The first line is a `UsageHeader`, every other one a `UsageDay`, in the order of the dates. A day that did not
 * change is the same bytes in every build, so that a reader can tell the few that did.
 */
export const USAGE_FILE = 'state/usage.ndjson'

/** The SHA-256 of a whole API key in lower-case hex, as raw records and the store have it. */
export const KeyHash = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 in lower-case hex' })

/** The form of the file, when it was built, and how many days follow. */
export const UsageHeader = z.object({ version: z.literal(1), as_of: Timestamp, days: z.int().nonnegative() })
export type UsageHeader = z.infer<typeof UsageHeader>

/** What one key used on one UTC date, with keys of its owner's at the providers (BYOK) or without. */
export const KeyUsage = z.object({
  api_key_hash: KeyHash,
  is_byok: z.boolean(),
  cost_usd: Usd,
  requests: z.int().positive(),
  /** Those of `requests` that went to a `:free` variant of a model. */
  free_requests: z.int().nonnegative(),
})
export type KeyUsage = z.infer<typeof KeyUsage>

/** Everything that was used on one UTC date, ordered by key. */
export const UsageDay = z.object({ date: UtcDate, usage: z.array(KeyUsage).min(1) })
export type UsageDay = z.infer<typeof UsageDay>
