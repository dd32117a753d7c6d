-- Which days are to be looked at again for duplicates, and what becomes of the duplicates of files that go missing.

-- name: touch_models
-- Marks days with records of a model that the registry now sees differently: of copies that disagree, slug and
-- visibility decide which one stays.
INSERT INTO state_touched_days
WITH changed AS (
  SELECT model, model_permaslug, visibility, is_valid FROM core_models
  EXCEPT
  SELECT model, model_permaslug, visibility, is_valid FROM state_models WHERE source = getvariable('source')
)
SELECT source, day_number
FROM state_sums
JOIN state_files USING (file_id)
JOIN changed USING (model)
WHERE source = getvariable('source') AND reject_reason IS NULL AND identified_records > 0
EXCEPT
FROM state_touched_days

-- name: touch_spanning
-- Marks all days of a source of buckets if one is marked, and some buckets end on a later day than they begin, or did: they
-- may overlap those of other days.
INSERT INTO state_touched_days
SELECT DISTINCT getvariable('source'), day_number
FROM core_source_sums
WHERE reject_reason IS NULL AND identified_records > 0
  AND EXISTS (
    FROM state_touched_days WHERE source = getvariable('source') AND day_number >= getvariable('open_day')
  )
  AND (
    EXISTS (
      FROM state_notes JOIN state_files USING (file_id) WHERE source = getvariable('source') AND kind = 'over_midnight'
    )
    OR EXISTS (FROM state_surplus WHERE source = getvariable('source') AND reason = 'overlapping_bucket')
  )
EXCEPT
FROM state_touched_days

-- name: forget_touched
-- Archived days stay marked.
DELETE FROM state_touched_days WHERE source = getvariable('source') AND day_number >= getvariable('open_day')

-- name: forget_models
DELETE FROM state_models WHERE source = getvariable('source')

-- name: keep_models
INSERT INTO state_models
SELECT getvariable('source'), model, model_permaslug, visibility, is_valid FROM core_models

-- name: touch_duplicates
-- Marks the days on which files have duplicates. On other days there is nothing to subtract.
INSERT INTO state_touched_days
SELECT source, day_number
FROM core_source_sums
JOIN state_surplus USING (day_number)
WHERE source = getvariable('source') AND file_id IN (SELECT unnest($file_ids)::INTEGER) AND identified_records > 0
EXCEPT
FROM state_touched_days

-- name: forget_ids
-- Notes that the records of files cannot be looked at again.
UPDATE state_sums SET identified_records = 0 WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: create_previous_surplus
-- The surplus from when the files that are now kept without their records could still be read.
CREATE OR REPLACE TEMP TABLE core_previous_surplus AS
SELECT * FROM state_surplus
WHERE source = getvariable('source') AND day_number IN (SELECT day_number FROM core_touched_days)

-- name: create_previous_models
-- What the registry said of the models when duplicates were looked for last.
CREATE OR REPLACE TEMP TABLE core_models AS
SELECT model, model_permaslug, visibility, is_valid FROM state_models WHERE source = getvariable('source')

-- name: subtract
-- Subtracts from a kept file, once and for all, its duplicates of other files: without its records they could not be
-- found again.
INSERT INTO state_sums BY NAME
WITH change AS (
  SELECT * FROM core_previous_surplus
  UNION ALL
  SELECT
    * REPLACE (
      -records AS records, -tokens AS tokens, minus_parts(parts) AS parts, -cost_usd AS cost_usd,
      -misread_charges AS misread_charges
    )
  FROM state_surplus
  WHERE source = getvariable('source') AND day_number IN (SELECT day_number FROM core_touched_days)
),
total AS (
  SELECT
    day_number, model, visibility, api_key_hash, is_byok, contributor, reason,
    sum(records)::BIGINT AS records,
    sum(tokens)::HUGEINT AS tokens,
    sum_of_parts(parts, tokens) AS parts,
    sum(cost_usd)::DECIMAL(38, 9) AS cost_usd,
    sum(misread_charges)::BIGINT AS misread_charges
  FROM change
  GROUP BY ALL
  HAVING sum(records) <> 0 OR sum(tokens) <> 0
)
SELECT
  $file_id AS file_id, day_number, model, visibility, api_key_hash, is_byok, NULL AS reject_reason,
  -records AS records, 0 AS identified_records, -tokens AS tokens, minus_parts(parts) AS parts,
  -cost_usd AS cost_usd, -misread_charges AS misread_charges, contributor
FROM total
UNION ALL
SELECT
  $file_id, day_number, model, visibility, NULL, NULL, coalesce(reason, 'duplicate'), records, 0, tokens, parts, 0, 0, NULL
FROM total

-- name: free_memory
-- The sums are in the state now, but of a state that grew DuckDB writes to disk only what fills row groups.
DROP TABLE IF EXISTS core_sums;
CHECKPOINT
