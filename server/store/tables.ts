/** When the spending limit of a key starts anew; never, when it is null. */
export const LIMIT_RESETS = ['daily', 'weekly', 'monthly'] as const
export type LimitReset = (typeof LIMIT_RESETS)[number]

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

/** The tables of the store, as its newest migration leaves them. */
export interface Tables {
  api_keys: ApiKeyTable
}
