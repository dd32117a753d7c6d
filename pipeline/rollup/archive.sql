-- The archive of closed dates: read at the beginning of a build, written when dates are closed.

-- name: create
-- The rows of core_net_usage that the archive holds.
CREATE OR REPLACE TEMP TABLE core_archive (
  day_number BIGINT, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR, is_byok BOOLEAN, outcome VARCHAR,
  records BIGINT, tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT,
  parts STRUCT(input HUGEINT, cache_read HUGEINT, cache_write HUGEINT, reasoning HUGEINT, audio HUGEINT, total HUGEINT),
  contributor BLOB
)

-- name: create_inputs
-- File x content x UTC day, one row for each part of the archive that has it.
CREATE OR REPLACE TEMP TABLE core_archived_inputs (
  name VARCHAR, sha256 VARCHAR, reading VARCHAR, day_number BIGINT, records BIGINT, tokens HUGEINT
)

-- name: read
-- Tokens are text there, for Parquet has no integer of 128 bits.
INSERT INTO core_archive BY NAME
SELECT * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)

-- name: read_inputs
INSERT INTO core_archived_inputs BY NAME
SELECT * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)

-- name: input_names
SELECT DISTINCT name FROM core_archived_inputs ORDER BY name

-- name: files
-- Files with records of archived dates, or of dates before $before_day, and how many of their records are not archived
-- then. Records without a date are never archived: they stay with their file.
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

-- name: closing
-- What a source has of the dates that are being closed; no row without a record.
SELECT
  strftime(DATE '1970-01-01' + min(day_number)::INTEGER, '%Y-%m-%d') AS start_date,
  strftime(DATE '1970-01-01' + max(day_number)::INTEGER, '%Y-%m-%d') AS end_date,
  count(DISTINCT day_number)::BIGINT AS dates,
  sum(records)::BIGINT AS records,
  sum(tokens)::HUGEINT::VARCHAR AS tokens
FROM core_net_usage
WHERE day_number >= getvariable('open_day') AND day_number < $before_day
HAVING sum(records) > 0

-- name: write
-- Model names are archived as written, so that the registry keeps its say.
COPY (
  SELECT
    day_number, model, visibility, api_key_hash, is_byok, outcome, contributor,
    sum(records)::BIGINT AS records,
    sum(tokens)::HUGEINT::VARCHAR AS tokens,
    sum(cost_usd)::DECIMAL(38, 9) AS cost_usd,
    sum(misread_charges)::BIGINT AS misread_charges,
    sum_of_parts(parts, tokens)::VARCHAR AS parts
  FROM core_net_usage
  WHERE day_number >= getvariable('open_day') AND day_number < $before_day
  GROUP BY ALL
  HAVING sum(records) <> 0
  ORDER BY ALL
) TO $path (FORMAT parquet)

-- name: write_inputs
-- The files behind these dates, so that their records are known again.
COPY (
  SELECT name, sha256, reading, day_number, sum(records)::BIGINT AS records, sum(tokens)::HUGEINT::VARCHAR AS tokens
  FROM core_source_sums
  JOIN state_files USING (file_id)
  WHERE day_number >= getvariable('open_day') AND day_number < $before_day
  GROUP BY ALL
  ORDER BY ALL
) TO $path (FORMAT parquet)

-- name: written
-- The sums of a written file, to be compared with those of `closing`.
SELECT sum(records)::BIGINT AS records, sum(tokens::HUGEINT)::HUGEINT::VARCHAR AS tokens
FROM read_parquet($path, hive_partitioning = false)

-- name: counted
-- How many records count, for the share of rejected ones.
SELECT coalesce(sum(requests), 0)::BIGINT AS records FROM core_rollup
