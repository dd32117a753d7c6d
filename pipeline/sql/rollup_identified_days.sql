-- Purpose: where records with a request_id lie, so that each day is de-duplicated from its own files alone.
-- Grain:   UTC day x file.
-- Inputs:  table core_usage_groups.
SELECT day_number, input_group, file_index, sum(identified_records)::BIGINT AS records
FROM core_usage_groups
WHERE reject_reason IS NULL AND identified_records > 0
GROUP BY ALL
ORDER BY ALL
