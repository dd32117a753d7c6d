-- Purpose: how many of the accepted records of a source have no request_id. Files that are gone are left out: nothing more
--          of them is delivered, and of some nobody knows any more which records had one.
-- Grain:   one row.
-- Inputs:  view core_source_sums; table state_files.
SELECT
  coalesce(sum(records - identified_records), 0)::BIGINT AS records,
  coalesce(sum(records), 0)::BIGINT AS accepted_records
FROM core_source_sums
JOIN state_files USING (file_id)
WHERE reject_reason IS NULL AND kept IS NULL AND NOT is_misdated(day_number)
