-- Purpose: what the archive holds of a source; filled from its files.
-- Grain:   as core_net_usage, one row for each.
CREATE OR REPLACE TEMP TABLE core_archive (
  day_number BIGINT, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR, is_byok BOOLEAN, outcome VARCHAR,
  records BIGINT, tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT
)
