-- Purpose: the files that have records of the dates that are being closed, and whether nothing later is in them.
-- Grain:   file.
-- Inputs:  view core_source_sums; table state_files; variable open_day; $before_day.
SELECT
  name,
  sha256,
  kept,
  (sum(records) FILTER (day_number < $before_day))::BIGINT AS records,
  bool_and(coalesce(day_number < $before_day, true)) AS is_closed
FROM core_source_sums
JOIN state_files USING (file_id)
GROUP BY ALL
HAVING count(*) FILTER (day_number < $before_day) > 0
ORDER BY ALL
