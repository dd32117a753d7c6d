-- Purpose: records of archived dates that are not in the archive, because they came after their date was closed.
-- Grain:   file.
-- Inputs:  tables state_files, state_sums, core_archived_inputs; variables source, open_day.
WITH present AS (
  SELECT name, sha256, sum(records) AS records
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE source = getvariable('source') AND kept IS NULL AND day_number < getvariable('open_day')
  GROUP BY ALL
),
archived AS (
  SELECT present.name, sum(core_archived_inputs.records) AS records
  FROM present
  JOIN core_archived_inputs
    ON core_archived_inputs.name = present.name OR core_archived_inputs.sha256 = present.sha256
  GROUP BY ALL
)
SELECT name AS file, (present.records - coalesce(archived.records, 0))::BIGINT AS records
FROM present
LEFT JOIN archived USING (name)
WHERE present.records > coalesce(archived.records, 0)
ORDER BY file
