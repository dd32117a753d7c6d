-- Purpose: everything that the files of a source hold, each record in one place: counted, or set aside for a reason.
-- Grain:   UTC day x model x outcome; `outcome` is public for what counts, else the reason it does not.
-- Inputs:  tables core_usage_groups, core_surplus, core_models.
WITH usage AS (
  SELECT day_number, model, visibility, records, tokens, reject_reason AS outcome FROM core_usage_groups
  UNION ALL
  SELECT day_number, model, visibility, -records, -tokens, NULL FROM core_surplus
  UNION ALL
  SELECT day_number, model, visibility, records, tokens, 'duplicate' FROM core_surplus
)
SELECT
  CASE WHEN day_number IS NOT NULL THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  CASE WHEN is_valid THEN coalesce(core_models.model_permaslug, '') END AS model_permaslug,
  CASE
    WHEN outcome IS NOT NULL THEN outcome
    WHEN NOT is_valid THEN 'invalid_model'
    ELSE coalesce(usage.visibility, core_models.visibility)
  END AS outcome,
  sum(records)::VARCHAR AS records,
  sum(tokens)::HUGEINT::VARCHAR AS tokens
FROM usage
LEFT JOIN core_models ON usage.model = core_models.model
GROUP BY ALL
HAVING sum(records) > 0
ORDER BY ALL
