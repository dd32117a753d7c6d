-- Purpose: the files of a source that have accepted records without a request_id.
-- Grain:   one row per file.
-- Inputs:  tables state_files, state_sums; variable source.
SELECT DISTINCT file_id
FROM state_sums
JOIN state_files USING (file_id)
WHERE source = getvariable('source') AND reject_reason IS NULL AND records > identified_records
