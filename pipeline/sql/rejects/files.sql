-- Purpose: the files at hand with rejected records, and whether these are not those that were written last.
-- Grain:   file.
-- Inputs:  tables core_rejected, state_files, state_rejects; variable source.
WITH written AS (
  SELECT file, sha256, reason, records FROM state_rejects WHERE source = getvariable('source')
),
changed AS (
  (FROM core_rejected EXCEPT FROM written)
  UNION ALL
  (FROM written EXCEPT FROM core_rejected)
)
SELECT DISTINCT file, file IN (SELECT file FROM changed) AS is_changed
FROM core_rejected
JOIN state_files ON state_files.name = core_rejected.file
WHERE source = getvariable('source') AND kept IS NULL
ORDER BY file
