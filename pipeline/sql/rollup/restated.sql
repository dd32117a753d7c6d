-- Purpose: a day of files that are gone of which new files have rows too.
-- Grain:   one row for each such file and day.
-- Inputs:  tables core_sums, state_files, state_sums; $file_ids.
SELECT DISTINCT
  name AS file,
  kept IS NOT NULL AS is_kept,
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date
FROM state_sums
JOIN state_files USING (file_id)
WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
  AND reject_reason IS NULL
  AND day_number IN (SELECT day_number FROM core_sums WHERE reject_reason IS NULL)
ORDER BY ALL
