-- Purpose: the rejected records of a source by file, for the maintainer.
-- Grain:   file x reason.
-- Inputs:  view core_source_sums; tables state_files, core_models.
SELECT
  name AS file,
  coalesce(reject_reason, 'invalid_model') AS reason,
  sum(records)::BIGINT AS records
FROM core_source_sums
JOIN state_files USING (file_id)
LEFT JOIN core_models ON core_source_sums.model = core_models.model
WHERE reject_reason NOT IN ('left_out', 'duplicate') OR NOT is_valid
GROUP BY ALL
ORDER BY file, reason
