-- The first records of a file, for `tokenboard inspect`.

-- name: keep_order
-- Otherwise the first records would not be those at the top of the file.
SET preserve_insertion_order = true

-- name: sample
-- As they stand in the file.
SELECT fields FROM raw_sample LIMIT $records

-- name: records
-- As a schema reads them.
SELECT
  CASE WHEN day_number IS NOT NULL THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  model,
  prompt_tokens::VARCHAR AS prompt_tokens,
  completion_tokens::VARCHAR AS completion_tokens,
  request_id IS NOT NULL AS has_request_id,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE reject_reason END AS reject_reason
FROM core_usage
LIMIT $records
