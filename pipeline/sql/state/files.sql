-- Purpose: the files of a source that the state knows, with what tells whether one of them lost records.
--          `open_records` are those that were not rejected, of dates that are not archived; `identified_records` have a
--          request_id, `unidentified_records` have none, and both include records of misdated days.
-- Grain:   one row per file.
-- Inputs:  tables state_files, state_sums; variables source, open_day.
SELECT
  file_id,
  name,
  bytes,
  modified,
  sha256,
  reading,
  kept,
  coalesce(sum(records) FILTER (reject_reason IS NULL AND NOT is_misdated(day_number)), 0)::BIGINT AS open_records,
  coalesce(sum(identified_records) FILTER (reject_reason IS NULL), 0)::BIGINT AS identified_records,
  coalesce(sum(records - identified_records) FILTER (reject_reason IS NULL), 0)::BIGINT AS unidentified_records
FROM state_files
LEFT JOIN core_source_sums USING (file_id)
WHERE source = getvariable('source')
GROUP BY ALL
ORDER BY name, file_id
