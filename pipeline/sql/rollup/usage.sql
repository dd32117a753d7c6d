-- Purpose: everything that a source contributes, repeated deliveries taken off and shown apart, archived dates included.
-- Grain:   several rows per UTC day x model name as written x own visibility x API key x BYOK x outcome, to be summed;
--          `outcome` is a reason to reject, duplicate, or NULL for what is left to the registry.
-- Inputs:  view core_source_sums; tables state_surplus, core_archive; variables source, open_day.
CREATE OR REPLACE TEMP VIEW core_net_usage AS
WITH surplus AS (
  SELECT * FROM state_surplus WHERE source = getvariable('source') AND day_number >= getvariable('open_day')
)
SELECT
  day_number, model, visibility, api_key_hash, is_byok, reject_reason AS outcome,
  records, tokens, cost_usd, misread_charges
FROM core_source_sums
UNION ALL
SELECT
  day_number, model, visibility, api_key_hash, is_byok, NULL, -records, -tokens, -cost_usd, -misread_charges
FROM surplus
UNION ALL
SELECT
  day_number, model, visibility, NULL, NULL, 'duplicate', records, tokens, 0, 0
FROM surplus
UNION ALL
SELECT
  day_number, model, visibility, api_key_hash, is_byok, outcome, records, tokens, cost_usd, misread_charges
FROM core_archive
