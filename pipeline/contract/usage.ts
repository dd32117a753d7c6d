import { z } from 'zod'
import { Timestamp } from './ranking.ts'
import { Usd } from './usd.ts'
import { UtcDate } from './utc-date.ts'

/**
 * Usage per API key, below `DATA_DIR`: private, read only by the server's store, for `GET /key`. The first line is
 * a `UsageHeader`, each other line a `UsageDay`, by date. An unchanged day has the same bytes in every build.
 */
export const USAGE_FILE = 'state/usage.ndjson'

/** SHA-256 of a whole API key in lower-case hex, as in raw records and in the store. */
const KeyHash = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 in lower-case hex' })

export const KeySpendHeader = z.object({ version: z.literal(1), as_of: Timestamp, days: z.int().nonnegative() })
export type KeySpendHeader = z.infer<typeof KeySpendHeader>

/** What one key used on one UTC date. `is_byok`: with the owner's own provider key. */
const KeySpend = z.object({
  api_key_hash: KeyHash,
  is_byok: z.boolean(),
  cost_usd: Usd,
  requests: z.int().positive(),
  /** Those of `requests` to a `:free` variant. */
  free_requests: z.int().nonnegative(),
})

export const KeySpendDay = z.object({ date: UtcDate, usage: z.array(KeySpend).min(1) })
export type KeySpendDay = z.infer<typeof KeySpendDay>
