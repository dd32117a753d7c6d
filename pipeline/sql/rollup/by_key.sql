-- Purpose: what each API key used, repeated deliveries taken off: private and withheld models and every day included
--          (API.md § GET /key).
-- Grain:   API key x UTC day x BYOK.
-- Inputs:  view core_dated_usage; table core_models.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  api_key_hash,
  is_byok,
  sum(cost_usd)::DECIMAL(38, 9)::VARCHAR AS cost_usd,
  sum(records)::BIGINT AS requests,
  coalesce(sum(records) FILTER (ends_with(core_models.model_permaslug, ':free')), 0)::BIGINT AS free_requests,
  sum(misread_charges)::BIGINT AS misread_charges
FROM core_dated_usage
JOIN core_models ON core_dated_usage.model = core_models.model AND core_models.is_valid
WHERE outcome IS NULL AND api_key_hash IS NOT NULL
GROUP BY ALL
HAVING sum(records) > 0
ORDER BY ALL
