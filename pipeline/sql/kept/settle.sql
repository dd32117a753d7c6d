-- Purpose: takes off a kept file, once and for all, what it repeated of other files: without its records that could not
--          be found out again.
-- Grain:   as state_sums.
-- Inputs:  tables state_surplus, state_sums, core_former_surplus; view core_touched_days; variable source; $file_id.
INSERT INTO state_sums BY NAME
WITH change AS (
  SELECT * FROM core_former_surplus
  UNION ALL
  SELECT * REPLACE (-records AS records, -tokens AS tokens, -cost_usd AS cost_usd, -misread_charges AS misread_charges)
  FROM state_surplus
  WHERE source = getvariable('source') AND day_number IN (SELECT day_number FROM core_touched_days)
),
total AS (
  SELECT
    day_number, model, visibility, api_key_hash, is_byok,
    sum(records)::BIGINT AS records,
    sum(tokens)::HUGEINT AS tokens,
    sum(cost_usd)::DECIMAL(38, 9) AS cost_usd,
    sum(misread_charges)::BIGINT AS misread_charges
  FROM change
  GROUP BY ALL
  HAVING sum(records) <> 0 OR sum(tokens) <> 0
)
SELECT
  $file_id AS file_id, day_number, model, visibility, api_key_hash, is_byok, NULL AS reject_reason,
  -records AS records, 0 AS identified_records, -tokens AS tokens, -cost_usd AS cost_usd, -misread_charges AS misread_charges
FROM total
UNION ALL
SELECT
  $file_id, day_number, model, visibility, NULL, NULL, 'duplicate', records, 0, tokens, 0, 0
FROM total
