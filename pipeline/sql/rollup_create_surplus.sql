-- Purpose: what repeated deliveries counted too much; filled batch by batch by rollup_surplus.sql.
-- Grain:   UTC day x model name as written x own visibility.
CREATE OR REPLACE TEMP TABLE core_surplus (
  day_number BIGINT, model VARCHAR, visibility VARCHAR, records BIGINT, conflicting_records BIGINT, tokens HUGEINT
)
