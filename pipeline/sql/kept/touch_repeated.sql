-- Purpose: marks the days on which files have records that were found repeated; on others there is nothing to take off.
-- Inputs:  view core_source_sums; tables state_surplus, state_touched_days; variable source; $file_ids.
INSERT INTO state_touched_days
SELECT source, day_number
FROM core_source_sums
JOIN state_surplus USING (day_number)
WHERE source = getvariable('source') AND file_id IN (SELECT unnest($file_ids)::INTEGER) AND identified_records > 0
EXCEPT
FROM state_touched_days
