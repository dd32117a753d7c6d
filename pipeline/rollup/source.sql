-- Views of all that one source contributes: its files, less duplicates, and its archive. They follow the variables
-- `source` and `open_day`, the first day that is not archived.

-- name: sums
-- What the files contributed, without archived dates: the archive has those.
CREATE OR REPLACE TEMP VIEW core_source_sums AS
SELECT state_sums.*
FROM state_sums
JOIN state_files USING (file_id)
WHERE source = getvariable('source')
  AND coalesce(day_number, getvariable('open_day')) >= getvariable('open_day')

-- name: touched_days
-- The days whose duplicates have to be looked for again.
CREATE OR REPLACE TEMP VIEW core_touched_days AS
SELECT day_number
FROM state_touched_days
WHERE source = getvariable('source') AND day_number >= getvariable('open_day')

-- name: net_usage
-- Duplicates are subtracted and shown apart. Several rows per UTC day x model name as written x own visibility x API
-- key x BYOK x outcome, to be summed. `outcome` is a reject reason, duplicate, or NULL for what is left to the
-- registry.
CREATE OR REPLACE TEMP VIEW core_net_usage AS
WITH surplus AS (
  SELECT * FROM state_surplus WHERE source = getvariable('source') AND day_number >= getvariable('open_day')
)
SELECT
  day_number, model, visibility, api_key_hash, is_byok, reject_reason AS outcome,
  records, tokens, parts, cost_usd, misread_charges, contributor
FROM core_source_sums
UNION ALL
SELECT
  day_number, model, visibility, api_key_hash, is_byok, NULL, -records, -tokens, minus_parts(parts), -cost_usd,
  -misread_charges, contributor
FROM surplus
UNION ALL
SELECT
  day_number, model, visibility, NULL, NULL, coalesce(reason, 'duplicate'), records, tokens, parts, 0, 0, NULL
FROM surplus
UNION ALL
SELECT
  day_number, model, visibility, api_key_hash, is_byok, outcome, records, tokens, parts, cost_usd, misread_charges,
  contributor
FROM core_archive

-- name: dated_usage
-- Records of misdated days are rejected, duplicates of them too. Neither the state nor the archive holds this: a day
-- that is misdated today may be a date like any other tomorrow.
CREATE OR REPLACE TEMP VIEW core_dated_usage AS
SELECT * FROM core_net_usage WHERE NOT is_misdated(day_number)
UNION ALL BY NAME
SELECT 'invalid_timestamp' AS outcome, records, 0 AS tokens, 0 AS cost_usd, 0 AS misread_charges
FROM core_net_usage
WHERE is_misdated(day_number)

-- name: late_usage
-- Records that came after their date was archived.
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
replaced AS (
  SELECT name, day_number, sum(records) AS records, sum(tokens) AS tokens
  FROM core_archived_inputs
  WHERE sha256 NOT IN (SELECT sha256 FROM present)
  GROUP BY ALL
)
SELECT
  changed.name AS file,
  changed.day_number,
  changed.records - coalesce(replaced.records, 0) AS records,
  greatest(0, changed.tokens - coalesce(replaced.tokens, 0)) AS tokens
FROM changed
LEFT JOIN replaced USING (name, day_number)
WHERE changed.records > coalesce(replaced.records, 0)
