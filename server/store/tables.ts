import type { LimitReset } from '../schemas/key.ts'
import type { Preset, PresetVersion } from '../schemas/preset.ts'

/** The types of `tables.sql`. Instants are ISO 8601 UTC text, flags 0 or 1, money decimal text, as on every engine. */
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

/** `version_count` is also the number of the newest version, which is the designated one. */
interface PresetTable extends Preset {
  version_count: number
  /** Orders updates in a workspace, even within the same millisecond. */
  update_number: number
}

/** JSON text: plain text columns would lose lone surrogates (SQLite) or reject U+0000 (PostgreSQL). */
export interface PresetVersionTable extends Omit<PresetVersion, 'config' | 'system_prompt'> {
  system_prompt_json: string
  config_json: string
}

interface EmbeddingsModelTable {
  position: number
  id: string
  entry: string
}

interface EmbeddingsCatalogueTable {
  id: 1
  revision: number
}

/** Usage of a key on a UTC date. `key_hash` may be unknown to `api_keys`. */
export interface UsageTable {
  key_hash: string
  date: string
  is_byok: number
  cost_usd: string
  requests: number
  free_requests: number
}

interface UsageDayTable {
  date: string
  digest: string
}

interface StoreFormTable {
  form: number
}

export interface Tables {
  api_keys: ApiKeyTable
  presets: PresetTable
  preset_versions: PresetVersionTable
  embeddings_models: EmbeddingsModelTable
  embeddings_catalogue: EmbeddingsCatalogueTable
  usage: UsageTable
  usage_days: UsageDayTable
  store_form: StoreFormTable
}
