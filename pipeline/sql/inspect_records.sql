-- Purpose: the first records of a file as a schema reads them.
-- Grain:   record.
-- Inputs:  view core_usage; $records, how many.
SELECT
  CASE WHEN day_number IS NOT NULL THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  model,
  prompt_tokens::VARCHAR AS prompt_tokens,
  completion_tokens::VARCHAR AS completion_tokens,
  request_id IS NOT NULL AS has_request_id,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE reject_reason END AS reject_reason
FROM core_usage
LIMIT $records
