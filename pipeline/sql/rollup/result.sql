-- Purpose: everything that a source holds, each record in one place: counted, or set aside for a reason.
-- Grain:   UTC day x model x outcome; `outcome` is public for what counts, else the reason it does not.
-- Inputs:  view core_dated_usage; table core_models.
CREATE OR REPLACE TEMP TABLE core_result AS
SELECT
  DATE '1970-01-01' + day_number::INTEGER AS date,
  CASE WHEN is_valid THEN coalesce(core_models.model_permaslug, '') END AS model_permaslug,
  CASE
    WHEN outcome IS NOT NULL THEN outcome
    WHEN NOT is_valid THEN 'invalid_model'
    ELSE coalesce(core_dated_usage.visibility, core_models.visibility)
  END AS outcome,
  sum(records)::BIGINT AS records,
  sum(tokens)::HUGEINT AS tokens
FROM core_dated_usage
LEFT JOIN core_models ON core_dated_usage.model = core_models.model
GROUP BY ALL
HAVING sum(records) > 0
