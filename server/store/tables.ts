import type { LimitReset } from '../schemas/key.ts'
import type { PresetStatus } from '../schemas/preset.ts'

/** A row of `api_keys`. Instants are ISO 8601 UTC text, flags 0 or 1, money is decimal text: the same on every engine. */
export interface ApiKeyTable {
  id: string
  hash: string
  label: string
  name: string | null
  creator_user_id: string
  workspace_id: string
  is_management: number
  is_free_tier: number
  limit_usd: string | null
  limit_reset: LimitReset | null
  include_byok_in_limit: number
  created_at: string
  expires_at: string | null
  revoked_at: string | null
}

/** A row of `presets`. `version_count` is also the number of the newest version, which is the designated one. */
export interface PresetTable {
  id: string
  workspace_id: string
  slug: string
  name: string
  description: string | null
  status: PresetStatus
  status_updated_at: string | null
  creator_user_id: string
  designated_version_id: string
  version_count: number
  /** Counts the updates in a workspace: their order also where the clock gave two of them one millisecond. */
  update_number: number
  created_at: string
  updated_at: string
}

/**
 * A row of `preset_versions`. What the client sent is kept as JSON text, `null` included: a plain text column would
 * lose lone surrogates (SQLite) or refuse U+0000 (PostgreSQL).
 */
export interface PresetVersionTable {
  id: string
  preset_id: string
  version: number
  creator_id: string
  created_at: string
  updated_at: string
  system_prompt_json: string
  config_json: string
}

/** A row of `embeddings_models`: an entry as JSON text, and its place in the list. */
export interface EmbeddingsModelTable {
  position: number
  id: string
  entry: string
}

/** The one row of `embeddings_catalogue`; it is there once the catalogue was filled. */
export interface EmbeddingsCatalogueTable {
  id: 1
  revision: number
}

/** A row of `usage`: what a key used on a UTC date. `key_hash` is that of `api_keys.hash`, known to it or not. */
export interface UsageTable {
  key_hash: string
  date: string
  is_byok: number
  cost_usd: string
  requests: number
  free_requests: number
}

/** A row of `usage_days`: a date of `usage`, and the digest of all that was loaded for it. */
export interface UsageDayTable {
  date: string
  digest: string
}

/**
 * A row of `rate_limits`, on PostgreSQL alone: how often a name used its quota in the window that began at `started` and
 * is over at `ends`, both in milliseconds since 1970.
 */
export interface RateLimitTable {
  name: string
  started: number
  ends: number
  uses: number
}

/** The tables of the store, as its newest migration leaves them. */
export interface Tables {
  api_keys: ApiKeyTable
  presets: PresetTable
  preset_versions: PresetVersionTable
  embeddings_models: EmbeddingsModelTable
  embeddings_catalogue: EmbeddingsCatalogueTable
  usage: UsageTable
  usage_days: UsageDayTable
  rate_limits: RateLimitTable
}
