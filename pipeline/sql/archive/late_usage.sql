-- Purpose: records of closed dates that are not in the archive, because they came after their date was closed.
-- Grain:   file x UTC day.
-- Inputs:  tables state_files, state_sums, core_archived_inputs; variables source, open_day.
CREATE OR REPLACE TEMP VIEW core_late_usage AS
WITH present AS (
  SELECT name, sha256, day_number, sum(records) AS records, sum(tokens) AS tokens
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE source = getvariable('source') AND kept IS NULL AND day_number < getvariable('open_day')
  GROUP BY ALL
),
changed AS (
  SELECT present.*
  FROM present
  ANTI JOIN core_archived_inputs USING (sha256, day_number)
),
-- A file that grew still holds what was archived of it; one that was renamed has another in its place.
former AS (
  SELECT name, day_number, sum(records) AS records, sum(tokens) AS tokens
  FROM core_archived_inputs
  WHERE sha256 NOT IN (SELECT sha256 FROM present)
  GROUP BY ALL
)
SELECT
  changed.name AS file,
  changed.day_number,
  changed.records - coalesce(former.records, 0) AS records,
  greatest(0, changed.tokens - coalesce(former.tokens, 0)) AS tokens
FROM changed
LEFT JOIN former USING (name, day_number)
WHERE changed.records > coalesce(former.records, 0)
