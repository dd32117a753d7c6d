-- Purpose: what the registry says of each model name; filled by the engine.
-- Grain:   one row per name as written. `visibility` is public, private or withheld; `is_valid` says that the slug may be published.
CREATE OR REPLACE TEMP TABLE core_models (
  model VARCHAR, model_permaslug VARCHAR, visibility VARCHAR, is_valid BOOLEAN
)
