-- The result of one source, and the account that a build gives of it.

-- name: create_rollup
-- UTC date x public model x source: what the engines fill and what is ranked.
CREATE OR REPLACE TEMP TABLE core_rollup (
  source VARCHAR,
  date DATE,
  model_permaslug VARCHAR,
  tokens HUGEINT,
  requests BIGINT
)

-- name: create_shared_ids
-- Ids that two sources have in common; filled by engines that read ids (surplus.sql).
CREATE OR REPLACE TEMP TABLE core_shared_ids (
  source VARCHAR, other_source VARCHAR, date DATE, ids BIGINT, of_ids BIGINT
)

-- name: models
-- Model names of the files and the archive, for the registry to resolve.
SELECT model FROM core_source_sums WHERE model IS NOT NULL
UNION
SELECT model FROM core_archive WHERE model IS NOT NULL
ORDER BY model

-- name: create_models
-- What the registry says of each model name as written; filled by the engine. `visibility` is public, private, withheld,
-- looks_private or stays_private; `is_valid` says that the slug may be published.
CREATE OR REPLACE TEMP TABLE core_models (
  model VARCHAR, model_permaslug VARCHAR, visibility VARCHAR, is_valid BOOLEAN
)

-- name: create
-- Each record in one place: `outcome` is public for what counts, else the reason why it is excluded.
CREATE OR REPLACE TEMP TABLE core_result AS
SELECT
  DATE '1970-01-01' + day_number::INTEGER AS date,
  CASE WHEN is_valid THEN coalesce(core_models.model_permaslug, '') END AS model_permaslug,
  CASE
    WHEN outcome IS NOT NULL THEN outcome
    WHEN NOT is_valid THEN 'invalid_model'
    ELSE visibility_of(core_dated_usage.visibility, core_models.visibility)
  END AS outcome,
  sum(records)::BIGINT AS records,
  sum(tokens)::HUGEINT AS tokens
FROM core_dated_usage
LEFT JOIN core_models ON core_dated_usage.model = core_models.model
GROUP BY ALL
HAVING sum(records) > 0

-- name: excluded
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  model_permaslug,
  outcome AS reason,
  records,
  tokens
FROM core_result
WHERE outcome <> 'public'
ORDER BY ALL

-- name: deliver
INSERT INTO core_rollup
SELECT getvariable('source'), date, model_permaslug, tokens, records FROM core_result WHERE outcome = 'public'

-- name: create_parties
-- The names that a source's contributors do not count under: they have the `owners`, and who has none is nobody ('').
CREATE OR REPLACE TEMP TABLE core_parties AS
SELECT
  contributor_id(name) AS id,
  contributor_id(nullif(owner, '')) AS owner_id,
  CASE WHEN owner = '' THEN name END AS word
FROM (SELECT unnest($names::VARCHAR[]) AS name, unnest($owners::VARCHAR[]) AS owner)

-- name: deliver_contributions
-- $contributors says who contributes: what the records name (column), their keys, or nobody (exempt). Names in core_parties
-- are words for nobody, or have an owner. Negative sums stay: all contributions of a model on a date are its tokens.
INSERT INTO core_contributions
SELECT
  DATE '1970-01-01' + day_number::INTEGER,
  core_models.model_permaslug,
  CASE $contributors
    WHEN 'column' THEN CASE WHEN party.id IS NULL THEN known_contributor(contributor) ELSE owner_id END
    WHEN 'keys' THEN encode('key ' || api_key_hash)
  END AS contributor,
  $contributors = 'exempt',
  sum(tokens)::HUGEINT,
  CASE WHEN $contributors = 'column' THEN word END AS no_customer
FROM core_dated_usage
JOIN core_models ON core_dated_usage.model = core_models.model
LEFT JOIN core_parties AS party ON contributor = party.id
WHERE outcome IS NULL AND is_valid AND visibility_of(core_dated_usage.visibility, core_models.visibility) = 'public'
GROUP BY ALL
HAVING sum(tokens) <> 0

-- name: deliver_unknown
-- The same for a source of which no record names anybody.
INSERT INTO core_contributions
SELECT date, model_permaslug, NULL, false, tokens, NULL FROM core_rollup WHERE source = getvariable('source')

-- name: totals
-- How many records a source has in all, and how many of them have an outcome.
SELECT
  (
    SELECT coalesce(sum(records), 0)::BIGINT
    FROM (SELECT records FROM core_source_sums UNION ALL SELECT records FROM core_archive)
  ) AS read,
  (SELECT coalesce(sum(records), 0)::BIGINT FROM core_result) AS accounted

-- name: conflicts
-- How many duplicates differ from the record that was kept.
SELECT coalesce(sum(conflicting_records), 0)::BIGINT AS records FROM state_surplus WHERE source = getvariable('source')

-- name: overlapping
-- Rejected records of buckets by date, and the files that have records of the date: which of them overlap.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  sum(records)::BIGINT AS records,
  (
    SELECT list(DISTINCT name ORDER BY name)
    FROM core_source_sums
    JOIN state_files USING (file_id)
    WHERE core_source_sums.day_number = state_surplus.day_number
  ) AS files
FROM state_surplus
WHERE source = getvariable('source') AND reason = 'overlapping_bucket'
  AND day_number >= getvariable('open_day') AND NOT is_misdated(day_number)
GROUP BY day_number
ORDER BY date

-- name: rejected_files
-- For the maintainer. Records of misdated days have the first and the last of these days.
WITH rejected AS (
  SELECT
    name AS file,
    CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE coalesce(reject_reason, 'invalid_model') END AS reason,
    day_number,
    records
  FROM core_source_sums
  JOIN state_files USING (file_id)
  LEFT JOIN core_models ON core_source_sums.model = core_models.model
  WHERE is_misdated(day_number) OR reject_reason NOT IN ('left_out', 'nothing_used', 'duplicate') OR NOT is_valid
  UNION ALL
  SELECT file, 'invalid_timestamp', day_number, records FROM core_late_usage WHERE is_misdated(day_number)
)
SELECT
  file,
  reason,
  sum(records)::BIGINT AS records,
  strftime(DATE '1970-01-01' + min(day_number) FILTER (is_misdated(day_number))::INTEGER, '%Y-%m-%d') AS first_date,
  strftime(DATE '1970-01-01' + max(day_number) FILTER (is_misdated(day_number))::INTEGER, '%Y-%m-%d') AS last_date
FROM rejected
GROUP BY ALL
HAVING sum(records) > 0
ORDER BY file, reason

-- name: rows_of_sums
-- How many rows of sums a source has and how many of them are rejected, whatever the requests that they stand for. In
-- the archive, rows of one day and model are one.
SELECT
  coalesce(sum(CASE WHEN outcome IS NULL THEN 1 ELSE records END), 0)::BIGINT AS rows,
  coalesce(
    sum(CASE WHEN outcome IS NULL THEN 1 ELSE records END)
      FILTER (outcome IS NOT NULL OR is_misdated(day_number) OR NOT is_valid),
    0
  )::BIGINT AS rejected
FROM core_net_usage
LEFT JOIN core_models ON core_net_usage.model = core_models.model

-- name: disagreeing
-- How many rows of sums `parts_disagree` would tell of: it takes far longer, and mostly there are none.
SELECT count(parts_disagree) AS rows FROM core_source_sums

-- name: parts_disagree
-- UTC day x reason why token counts contradict each other; NULL for records that contradict nothing. No row where no
-- record does. Each duplicate counts by itself, and archived dates do not count. `product_total` is what the records
-- sum to by the product's own totals; NULL where none has one.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  parts_disagree AS reason,
  sum(records)::BIGINT AS records,
  coalesce(
    sum(records) FILTER (visibility_of(core_source_sums.visibility, core_models.visibility) = 'public'),
    0
  )::BIGINT AS public_records,
  sum(tokens)::HUGEINT AS tokens,
  total_of_parts(parts, tokens) AS product_total
FROM core_source_sums
JOIN core_models ON core_source_sums.model = core_models.model AND is_valid
WHERE reject_reason IS NULL AND NOT is_misdated(day_number)
GROUP BY day_number, parts_disagree
QUALIFY count(parts_disagree) OVER () > 0
ORDER BY date, reason

-- name: late
-- Records of `source/late_usage` for the account of what is excluded. On misdated days they are rejected instead, and
-- have no date.
SELECT
  file,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE 'archived_date' END AS reason,
  CASE WHEN NOT is_misdated(day_number) THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  records::BIGINT AS records,
  CASE WHEN is_misdated(day_number) THEN 0 ELSE tokens END::HUGEINT AS tokens
FROM core_late_usage
ORDER BY file, date

-- name: notes
-- What is to be told of how the files were read. A path is absent if no file at hand has it; some notes are of a file.
SELECT
  kind,
  CASE WHEN kind IN ('cut_line', 'more_pages') THEN state_files.name ELSE state_notes.name END AS name,
  sum(records)::BIGINT AS records,
  sum(tokens)::VARCHAR AS tokens
FROM state_notes
JOIN state_files USING (file_id)
WHERE source = getvariable('source')
GROUP BY ALL
HAVING kind <> 'absent_path' OR count(*) FILTER (kept IS NULL) = greatest(
  1,
  (
    SELECT count(DISTINCT file_id)
    FROM state_sums
    JOIN state_files USING (file_id)
    WHERE source = getvariable('source') AND kept IS NULL
  )
)
ORDER BY kind, sum(tokens) DESC, sum(records) DESC, name

-- name: file_names
SELECT name FROM state_files WHERE source = getvariable('source') AND kept IS NULL

-- name: without_ids
-- How many of the accepted records have no request_id. Missing files do not count: nothing more of them is delivered,
-- and of some nobody knows any more which records had one.
SELECT
  coalesce(sum(records - identified_records), 0)::BIGINT AS records,
  coalesce(sum(records), 0)::BIGINT AS accepted_records
FROM core_source_sums
JOIN state_files USING (file_id)
WHERE reject_reason IS NULL AND kept IS NULL AND NOT is_misdated(day_number)

-- name: readings
-- How the records were read, archived ones included.
SELECT reading FROM state_files WHERE source = getvariable('source')
UNION
SELECT reading FROM core_archived_inputs

-- name: old_counts
-- Dates with public usage of which records count as a previous version read them, because the date is archived
-- (`is_archived`) or its files are missing.
WITH outdated AS (
  SELECT day_number, false AS is_archived
  FROM core_source_sums
  JOIN state_files USING (file_id)
  WHERE reject_reason IS NULL AND list_contains($readings, reading)
  UNION
  SELECT day_number, true FROM core_archived_inputs WHERE list_contains($readings, reading)
),
public AS (
  SELECT date FROM core_rollup WHERE source = getvariable('source')
)
SELECT strftime(date, '%Y-%m-%d') AS date, is_archived
FROM (SELECT DATE '1970-01-01' + day_number::INTEGER AS date, is_archived FROM outdated)
SEMI JOIN public USING (date)
ORDER BY date

-- name: by_key
-- Private and withheld models and every day included, duplicates subtracted: `GET /key` shows what a key used.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  api_key_hash,
  is_byok,
  sum(cost_usd)::DECIMAL(38, 9)::VARCHAR AS cost_usd,
  sum(records)::BIGINT AS requests,
  coalesce(sum(records) FILTER (ends_with(core_models.model_permaslug, ':free')), 0)::BIGINT AS free_requests,
  sum(misread_charges)::BIGINT AS misread_charges
FROM core_dated_usage
JOIN core_models ON core_dated_usage.model = core_models.model AND core_models.is_valid
WHERE outcome IS NULL AND api_key_hash IS NOT NULL
GROUP BY ALL
HAVING sum(records) > 0
ORDER BY ALL

-- name: inputs
-- The contents that the usage comes from: of files at hand, kept or archived. A content that two files have at once
-- counts twice; one that was renamed since it was archived counts once.
WITH known AS (
  SELECT sha256, list(name ORDER BY name) AS names FROM state_files WHERE source = getvariable('source') GROUP BY ALL
),
archived AS (
  SELECT sha256, list_sort(list(DISTINCT name)) AS names FROM core_archived_inputs GROUP BY ALL
),
contents AS (
  SELECT
    sha256,
    CASE WHEN len(archived.names) > coalesce(len(known.names), 0) THEN archived.names ELSE known.names END AS names
  FROM known
  FULL JOIN archived USING (sha256)
)
SELECT sha256, unnest(names) AS file
FROM contents
ORDER BY ALL

-- name: usage_by_day
-- What the raw files of a source have of each UTC day, without duplicates and rejected records, whatever its visibility.
WITH usage AS (
  SELECT day_number, model, records, tokens, parts
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE source = $source AND reject_reason IS NULL
  UNION ALL
  SELECT day_number, model, -records, -tokens, minus_parts(parts) FROM state_surplus WHERE source = $source
),
by_day AS (
  SELECT
    day_number,
    sum(records)::BIGINT AS records,
    sum(tokens)::HUGEINT AS tokens,
    sum_of_parts(parts, tokens) AS parts
  FROM usage
  LEFT JOIN state_models ON usage.model = state_models.model AND source = $source
  WHERE coalesce(is_valid, true) AND NOT is_misdated(day_number)
  GROUP BY day_number
  HAVING sum(records) > 0
)
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  records,
  tokens,
  parts.total AS product_total,
  parts.input AS input,
  tokens - parts.input AS output,
  parts.cache_read AS cache_read,
  parts.cache_write AS cache_write,
  parts.reasoning AS reasoning,
  parts.audio AS audio
FROM by_day
ORDER BY date

-- name: forget
-- Frees the space: for a long history it is more than the release takes.
DROP TABLE IF EXISTS core_sums;
DROP TABLE IF EXISTS core_result
