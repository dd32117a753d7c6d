-- Purpose: marks the days on which files have records that may be repeated.
-- Inputs:  view core_source_sums; table state_touched_days; variable source; $file_ids.
INSERT INTO state_touched_days
SELECT DISTINCT getvariable('source'), day_number
FROM core_source_sums
WHERE file_id IN (SELECT unnest($file_ids)::INTEGER) AND reject_reason IS NULL AND identified_records > 0
