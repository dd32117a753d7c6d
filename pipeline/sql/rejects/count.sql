-- Purpose: the rejected records that there should be a file of below state/rejects. Those of a file that is gone and whose
--          records are kept stay as they were written.
-- Grain:   file x reason.
-- Inputs:  tables state_files, state_sums, state_rejects, core_models; variable source.
CREATE OR REPLACE TEMP TABLE core_rejected AS
WITH known AS (
  SELECT * FROM state_files WHERE source = getvariable('source')
)
SELECT
  name AS file,
  sha256,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE coalesce(reject_reason, 'invalid_model') END AS reason,
  sum(records)::BIGINT AS records
FROM state_sums
JOIN known USING (file_id)
LEFT JOIN core_models ON state_sums.model = core_models.model
WHERE kept IS NULL AND (is_misdated(day_number) OR reject_reason NOT IN ('left_out', 'duplicate') OR NOT is_valid)
GROUP BY ALL
UNION ALL
SELECT file, sha256, reason, records
FROM state_rejects
WHERE source = getvariable('source')
  AND file IN (SELECT name FROM known WHERE kept IS NOT NULL)
  AND file NOT IN (SELECT name FROM known WHERE kept IS NULL)
