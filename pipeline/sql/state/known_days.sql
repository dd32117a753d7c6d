-- Purpose: the UTC days that the state knows of a source whose usage is asked for day by day. `net_records` are those that
--          count or are private: repeated and rejected ones are left away.
-- Grain:   one row per day.
-- Inputs:  tables state_files, state_sums, state_surplus; variable source.
WITH surplus AS (
  SELECT day_number, sum(records) AS records FROM state_surplus WHERE source = getvariable('source') GROUP BY ALL
)
SELECT
  state_files.file_id,
  any_value(name) AS date,
  any_value(modified) AS asked,
  any_value(sha256) AS sha256,
  any_value(reading) AS reading,
  (coalesce(sum(state_sums.records) FILTER (reject_reason IS NULL), 0) - coalesce(any_value(surplus.records), 0))::BIGINT
    AS net_records
FROM state_files
LEFT JOIN state_sums ON state_files.file_id = state_sums.file_id
LEFT JOIN surplus ON state_sums.day_number = surplus.day_number
WHERE source = getvariable('source')
GROUP BY state_files.file_id
ORDER BY date
