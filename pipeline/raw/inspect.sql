-- The first records of a file, for `tokenboard inspect`; and what `inspect --sql` prints below the views of a file, for
-- DuckDB's own shell.

-- name: keep_order
-- Otherwise the first records would not be those at the top of the file.
SET preserve_insertion_order = true

-- name: sample
-- As they stand in the file.
SELECT fields FROM raw_sample LIMIT $records

-- name: records
-- As a schema reads them.
SELECT
  CASE WHEN day_number IS NOT NULL THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  model,
  request_id IS NOT NULL AS has_request_id,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE reject_reason END AS reject_reason
FROM core_usage
LIMIT $records

-- name: numbers
-- The first and the last time of the file's beginning, as milliseconds, and whether some are no whole numbers.
SELECT
  (min(instant_us) - $base_us) / 1000 AS first,
  (max(instant_us) - $base_us) / 1000 AS last,
  bool_or((instant_us - $base_us) % 1000 <> 0) AS has_fractions
FROM core_usage
WHERE reject_reason IS NULL

-- name: judge
-- The records as a build reads them. Model names are as written: the registry has not seen them yet.
CREATE OR REPLACE TEMP VIEW records AS
SELECT
  CASE WHEN day_number IS NOT NULL THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  model,
  prompt_tokens,
  completion_tokens,
  request_id,
  visibility,
  cost_usd,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE reject_reason END AS reject_reason
FROM core_usage

-- name: count
CREATE OR REPLACE TEMP TABLE counts AS
SELECT
  reject_reason,
  count(*) AS records,
  coalesce(sum(prompt_tokens + completion_tokens) FILTER (reject_reason IS NULL), 0) AS tokens,
  min(date) AS first_date,
  max(date) AS last_date
FROM records
GROUP BY reject_reason

-- name: forget_malformed
DROP TABLE IF EXISTS reject_errors;
DROP TABLE IF EXISTS reject_scans

-- name: count_malformed
-- CSV records that have not the fields of the header, which DuckDB excluded while it counted the others.
INSERT INTO counts
SELECT 'malformed_record', count(DISTINCT line), 0, NULL, NULL FROM reject_errors HAVING count(*) > 0

-- name: show
-- Why records are rejected, and how many are not; then the first 100 records.
SELECT * FROM counts ORDER BY reject_reason NULLS FIRST;

SELECT * FROM records LIMIT 100
