-- Rejected records and the files below state/rejects that list them.

-- name: count
-- The rejected records that should be listed, by file and reason. Those of a missing file whose records are kept stay
-- as they were listed.
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
WHERE kept IS NULL AND (is_misdated(day_number) OR reject_reason NOT IN ('left_out', 'nothing_used', 'duplicate') OR NOT is_valid)
GROUP BY ALL
UNION ALL
SELECT file, sha256, reason, records
FROM state_rejects
WHERE source = getvariable('source')
  AND file IN (SELECT name FROM known WHERE kept IS NOT NULL)
  AND file NOT IN (SELECT name FROM known WHERE kept IS NULL)

-- name: files
-- The files at hand with rejected records, and whether these differ from what was listed last.
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

-- name: find
-- The rejected records of one file, without those that DuckDB itself took for malformed CSV. `record_number` is 1 for
-- the first record that DuckDB gives; `content` is a struct, for Parquet alone. All columns are taken, so that they are
-- all read: which bytes DuckDB looks at decides what is malformed.
CREATE OR REPLACE TEMP TABLE core_rejects AS
SELECT *
FROM core_usage
WHERE is_misdated(day_number)
  OR reject_reason NOT IN ('left_out', 'nothing_used')
  OR coalesce(model, '') IN (SELECT model FROM core_models WHERE NOT is_valid)

-- name: in_order
SELECT
  record_number,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE coalesce(reject_reason, 'invalid_model') END AS reason,
  to_json(content)::VARCHAR AS content
FROM core_rejects
ORDER BY record_number

-- name: malformed
-- Where DuckDB took records of the last CSV file for malformed. `line` counts records, the header and empty lines among
-- them: a line feed within quotes begins no line.
SELECT DISTINCT line::BIGINT AS line FROM reject_errors ORDER BY line

-- name: free_memory
DROP TABLE IF EXISTS core_rejects

-- name: note
INSERT INTO state_rejects SELECT getvariable('source'), file, sha256, reason, records FROM core_rejected

-- name: written
SELECT DISTINCT source, file FROM state_rejects

-- name: forget
DELETE FROM state_rejects WHERE source = getvariable('source')
