-- Purpose: the records that count of the UTC days that are not archived, of all files of a source together. Repeated and
--          rejected records are left away, and those of misdated days.
-- Grain:   one row per day.
-- Inputs:  tables state_files, state_sums, state_surplus; variables source, open_day.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  sum(records)::BIGINT AS records
FROM (
  SELECT day_number, records
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE source = getvariable('source') AND reject_reason IS NULL
  UNION ALL
  SELECT day_number, -records FROM state_surplus WHERE source = getvariable('source')
)
WHERE day_number >= getvariable('open_day') AND NOT is_misdated(day_number)
GROUP BY day_number
HAVING sum(records) > 0
ORDER BY date
