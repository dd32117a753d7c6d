-- Purpose: the records with a request_id that were kept of files that are gone; filled for each batch of days.
-- Grain:   one row per record.
CREATE OR REPLACE TEMP TABLE core_kept_usage (
  updated_us BIGINT, instant_us BIGINT, day_number BIGINT, model VARCHAR, prompt_tokens BIGINT, completion_tokens BIGINT, request_id VARCHAR,
  visibility VARCHAR, api_key_hash VARCHAR, cost_usd DECIMAL(18, 9), is_byok BOOLEAN, is_charge_misread BOOLEAN
)
