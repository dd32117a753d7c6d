-- Purpose: the rejected records of a source by file, for the maintainer. Those of misdated days have the first and the last
--          of these days.
-- Grain:   file x reason.
-- Inputs:  views core_source_sums, core_late_usage; tables state_files, core_models.
WITH rejected AS (
  SELECT
    name AS file,
    CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE coalesce(reject_reason, 'invalid_model') END AS reason,
    day_number,
    records
  FROM core_source_sums
  JOIN state_files USING (file_id)
  LEFT JOIN core_models ON core_source_sums.model = core_models.model
  WHERE is_misdated(day_number) OR reject_reason NOT IN ('left_out', 'duplicate') OR NOT is_valid
  UNION ALL
  SELECT file, 'invalid_timestamp', day_number, records FROM core_late_usage WHERE is_misdated(day_number)
)
SELECT
  file,
  reason,
  sum(records)::BIGINT AS records,
  strftime(DATE '1970-01-01' + min(day_number) FILTER (is_misdated(day_number))::INTEGER, '%Y-%m-%d') AS first_date,
  strftime(DATE '1970-01-01' + max(day_number) FILTER (is_misdated(day_number))::INTEGER, '%Y-%m-%d') AS last_date
FROM rejected
GROUP BY ALL
HAVING sum(records) > 0
ORDER BY file, reason
