-- Purpose: marks the days on which files have records that may be repeated; those that are archived too, for the archive
--          may be an older one again.
-- Inputs:  tables state_sums, state_touched_days; variable source; $file_ids.
INSERT INTO state_touched_days
SELECT getvariable('source'), day_number
FROM state_sums
WHERE file_id IN (SELECT unnest($file_ids)::INTEGER) AND reject_reason IS NULL AND identified_records > 0
EXCEPT
FROM state_touched_days
