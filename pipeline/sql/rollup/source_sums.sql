-- Purpose: what the files of one source contributed, with the dates that are archived left out: the archive has those.
-- Grain:   as state_sums.
-- Inputs:  tables state_files, state_sums; variables source, open_day (the first day that is not archived).
CREATE OR REPLACE TEMP VIEW core_source_sums AS
SELECT state_sums.*
FROM state_sums
JOIN state_files USING (file_id)
WHERE source = getvariable('source')
  AND coalesce(day_number, getvariable('open_day')) >= getvariable('open_day')
