-- Purpose: the files at hand with records of closed dates, or of those before $before_day, and how many of their records
--          are not archived then. Records without a date belong to no archive: they stay with their file.
-- Grain:   file.
-- Inputs:  tables state_files, state_sums; view core_late_usage; variables source, open_day; $before_day.
WITH held AS (
  SELECT name AS file, day_number >= greatest(getvariable('open_day'), $before_day) AS is_open, records
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE source = getvariable('source') AND kept IS NULL AND day_number IS NOT NULL
),
late AS (
  SELECT file, sum(records) AS records FROM core_late_usage GROUP BY ALL
)
SELECT
  held.file,
  (coalesce(sum(held.records) FILTER (is_open), 0) + coalesce(any_value(late.records), 0))::BIGINT AS records_left
FROM held
LEFT JOIN late USING (file)
GROUP BY ALL
HAVING bool_or(NOT is_open)
ORDER BY held.file
