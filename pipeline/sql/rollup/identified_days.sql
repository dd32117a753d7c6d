-- Purpose: where the records with a request_id lie, so that each day is de-duplicated from its own files alone.
-- Grain:   UTC day x file, for the days that are looked at again.
-- Inputs:  views core_source_sums, core_touched_days.
SELECT day_number, file_id, sum(identified_records)::BIGINT AS records
FROM core_source_sums
WHERE reject_reason IS NULL
  AND identified_records > 0
  AND day_number IN (SELECT day_number FROM core_touched_days)
GROUP BY ALL
ORDER BY ALL
