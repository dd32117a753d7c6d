-- Purpose: the dates with public usage of a source of which records count as an earlier version read them.
-- Grain:   one row per date. `is_archived`: the date is archived; otherwise its raw files are missing.
-- Inputs:  view core_source_sums; tables state_files, core_archived_inputs, core_archive, core_rollup; variable source;
--          $readings; $same_with_ids, whether only records without a request_id are read differently.
WITH outdated AS (
  SELECT day_number, false AS is_archived
  FROM core_source_sums
  JOIN state_files USING (file_id)
  WHERE reject_reason IS NULL AND list_contains($readings, reading)
  UNION
  -- The archive does not say which records had a request_id. Records without one have neither a key nor a cost there.
  SELECT day_number, true
  FROM core_archived_inputs
  WHERE list_contains($readings, coalesce(reading, ''))
    AND (
      NOT $same_with_ids
      OR day_number IN (
        SELECT day_number FROM core_archive WHERE outcome IS NULL AND api_key_hash IS NULL AND cost_usd = 0 AND tokens > 0
      )
    )
),
public AS (
  SELECT date FROM core_rollup WHERE source = getvariable('source')
)
SELECT strftime(date, '%Y-%m-%d') AS date, is_archived
FROM (SELECT DATE '1970-01-01' + day_number::INTEGER AS date, is_archived FROM outdated)
SEMI JOIN public USING (date)
ORDER BY date
