-- Purpose: the rejected records of one file, as rejects.sql found them; `content` as a JSON object.
-- Grain:   record, in the order of the file.
-- Inputs:  table core_rejects.
SELECT
  record_number,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE coalesce(reject_reason, 'invalid_model') END AS reason,
  to_json(content)::VARCHAR AS content
FROM core_rejects
ORDER BY record_number
