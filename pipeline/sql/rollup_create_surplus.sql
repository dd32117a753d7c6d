-- Purpose: what repeated deliveries counted too much; filled batch by batch by rollup_surplus.sql.
-- Grain:   UTC day x model name as written x own visibility x API key x BYOK.
CREATE OR REPLACE TEMP TABLE core_surplus (
  day_number BIGINT, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR, is_byok BOOLEAN,
  records BIGINT, conflicting_records BIGINT, tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT
)
