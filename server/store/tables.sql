-- The tables of a store, on SQLite and PostgreSQL. tables.ts has their types. Whoever changes them raises FORM in store.ts.

-- The secret of a key is not stored: `hash` is its SHA-256 in lower-case hex, `label` a masked form.
CREATE TABLE IF NOT EXISTS api_keys (
  id text PRIMARY KEY,
  hash text NOT NULL UNIQUE,
  label text NOT NULL,
  name text,
  creator_user_id text NOT NULL,
  workspace_id text NOT NULL,
  is_management bigint NOT NULL,
  is_free_tier bigint NOT NULL,
  limit_usd text,
  limit_reset text,
  include_byok_in_limit bigint NOT NULL,
  created_at text NOT NULL,
  expires_at text,
  revoked_at text
);

CREATE INDEX IF NOT EXISTS api_keys_creator ON api_keys (creator_user_id);

-- `designated_version_id` is no foreign key: it would be circular.
CREATE TABLE IF NOT EXISTS presets (
  id text PRIMARY KEY,
  workspace_id text NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  description text,
  status text NOT NULL,
  status_updated_at text,
  creator_user_id text NOT NULL,
  designated_version_id text NOT NULL,
  version_count bigint NOT NULL,
  update_number bigint NOT NULL,
  created_at text NOT NULL,
  updated_at text NOT NULL,
  UNIQUE (workspace_id, slug)
);

CREATE INDEX IF NOT EXISTS presets_workspace_id_update_number ON presets (workspace_id, update_number);

CREATE TABLE IF NOT EXISTS preset_versions (
  id text PRIMARY KEY,
  preset_id text NOT NULL REFERENCES presets (id),
  version bigint NOT NULL,
  creator_id text NOT NULL,
  created_at text NOT NULL,
  updated_at text NOT NULL,
  system_prompt_json text NOT NULL,
  config_json text NOT NULL,
  UNIQUE (preset_id, version)
);

CREATE TABLE IF NOT EXISTS embeddings_models (
  position bigint PRIMARY KEY,
  id text NOT NULL UNIQUE,
  entry text NOT NULL
);

CREATE TABLE IF NOT EXISTS embeddings_catalogue (
  id bigint PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL
);

-- `digest` is that of the date's usage.
CREATE TABLE IF NOT EXISTS usage_days (
  date text PRIMARY KEY,
  digest text NOT NULL
);

CREATE TABLE IF NOT EXISTS usage (
  key_hash text NOT NULL,
  date text NOT NULL,
  is_byok bigint NOT NULL,
  cost_usd text NOT NULL,
  requests bigint NOT NULL,
  free_requests bigint NOT NULL,
  PRIMARY KEY (key_hash, date, is_byok)
);

CREATE INDEX IF NOT EXISTS usage_date ON usage (date);
