-- Sums the records of new and changed files into core_sums, batch by batch, and enters the sums into the state. Read them
-- from core_all_sums (sums.sql).

-- name: create_sums
-- File x UTC day x model name as written x own visibility x API key x BYOK x reject reason x reason why the counts of a
-- record contradict each other x contributor x note. Rejected records have no model, key, such reason, contributor or
-- note. Without a key, is_byok is NULL. `paths_found`: which of the source's own paths a record had, as bits.
CREATE OR REPLACE TEMP TABLE core_sums (
  link VARCHAR, day_number BIGINT, reject_reason VARCHAR, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR,
  is_byok BOOLEAN, records BIGINT, identified_records BIGINT, has_prompt_tokens BOOLEAN, has_completion_tokens BOOLEAN,
  tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT, parts_disagree VARCHAR,
  parts STRUCT(input HUGEINT, cache_read HUGEINT, cache_write HUGEINT, reasoning HUGEINT, audio HUGEINT, total HUGEINT),
  contributor VARCHAR, note_kind VARCHAR, note_name VARCHAR, note_tokens HUGEINT, paths_found BIGINT
)

-- name: forget_malformed
-- Forgets what DuckDB excluded in an earlier read, so that the next one counts only its own.
DROP TABLE IF EXISTS reject_errors;
DROP TABLE IF EXISTS reject_scans;

-- name: create_read_files
-- The files of a batch by their numbers in core_usage; filled by the engine.
CREATE OR REPLACE TEMP TABLE core_read_files (input_group INTEGER, file_index INTEGER, link VARCHAR)

-- name: sums
-- The one pass over a batch of raw files. What is not asked of rejected records is dropped, and groups that then say the
-- same are one.
INSERT INTO core_sums
WITH usage AS (
  SELECT
    * REPLACE (
      CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END AS model,
      CASE WHEN reject_reason IS NULL THEN visibility END AS visibility,
      CASE WHEN reject_reason IS NULL THEN api_key_hash END AS api_key_hash,
      CASE WHEN reject_reason IS NULL THEN contributor END AS contributor,
      CASE WHEN reject_reason IS NULL AND api_key_hash IS NOT NULL THEN is_byok END AS is_byok,
      CASE WHEN reject_reason IS NULL THEN parts_disagree END AS parts_disagree,
      CASE WHEN reject_reason IS NULL THEN tokens ELSE 0 END AS tokens,
      CASE WHEN reject_reason IS NULL THEN parts END AS parts,
      CASE WHEN reject_reason IS NULL THEN note_kind END AS note_kind,
      CASE WHEN reject_reason IS NULL THEN note_name END AS note_name
    )
  FROM core_groups
),
summed AS (
  SELECT
    input_group,
    file_index,
    day_number,
    reject_reason,
    model,
    visibility,
    api_key_hash,
    is_byok,
    sum(records)::BIGINT AS records,
    sum(identified_records)::BIGINT AS identified_records,
    bool_or(has_prompt_tokens) AS has_prompt_tokens,
    bool_or(has_completion_tokens) AS has_completion_tokens,
    sum(tokens)::HUGEINT AS tokens,
    sum(cost_usd) AS cost_usd,
    sum(misread_charges)::BIGINT AS misread_charges,
    parts_disagree,
    sum_of_parts(parts, tokens) AS parts,
    contributor,
    note_kind,
    note_name,
    sum(note_tokens) AS note_tokens,
    bit_or(paths_found) AS paths_found
  FROM usage
  GROUP BY ALL
)
SELECT link, summed.* EXCLUDE (input_group, file_index)
FROM summed
JOIN core_read_files USING (input_group, file_index)

-- name: sums_of_rollup
-- The same for files whose rows are sums already (schemas/rollup-files.ts): tokens come as prompt tokens, requests as
-- completion tokens. Until all files are checked `records` are rows and `identified_records` what they sum; `weigh`
-- replaces the one by the other. Rows are not added up, for rejected ones are counted as rows.
INSERT INTO core_sums
SELECT
  link,
  day_number,
  reject_reason,
  CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END,
  NULL,
  NULL,
  NULL,
  1,
  CASE WHEN reject_reason IS NULL THEN coalesce(completion_tokens, 0) ELSE 0 END,
  has_prompt_tokens,
  has_completion_tokens,
  CASE WHEN reject_reason IS NULL THEN coalesce(prompt_tokens, 0) ELSE 0 END,
  0,
  0,
  NULL,
  NULL,
  NULL,
  NULL,
  NULL,
  0,
  NULL
FROM core_usage
JOIN core_read_files USING (input_group, file_index)

-- name: malformed
-- CSV records that have not the fields of their header. DuckDB excludes them while it reads, before any of their
-- columns is known.
INSERT INTO core_sums (link, reject_reason, records, identified_records, tokens, cost_usd, misread_charges)
SELECT file_path, 'malformed_record', count(DISTINCT line), 0, 0, 0, 0
FROM reject_errors
JOIN reject_scans USING (scan_id, file_id)
GROUP BY ALL

-- name: weigh
-- Counts the requests that rows of sums stand for, once it is certain that all rows were read.
UPDATE core_sums
SET records = CASE WHEN reject_reason IS NULL THEN identified_records ELSE records END, identified_records = 0

-- name: records_by_file
-- Malformed records included.
SELECT link, sum(records)::BIGINT AS records FROM core_all_sums GROUP BY link

-- name: restated
-- Days of missing files of which new files have records too.
SELECT DISTINCT
  name AS file,
  kept IS NOT NULL AS is_kept,
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date
FROM state_sums
JOIN state_files USING (file_id)
WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
  AND reject_reason IS NULL
  AND day_number IN (SELECT day_number FROM core_all_sums WHERE reject_reason IS NULL)
ORDER BY ALL

-- name: create_file_numbers
-- The number that each new or changed file has in the state; filled by the engine.
CREATE OR REPLACE TEMP TABLE core_file_numbers (link VARCHAR, file_id INTEGER)

-- name: create_contributor_ids
-- A table, so that DuckDB knows how many there are: of a subquery it takes that for many, and then builds its hash table of
-- the sums.
CREATE OR REPLACE TEMP TABLE core_contributor_ids AS
SELECT contributor, name, contributor_id(name) AS id
FROM (
  SELECT contributor, contributor_name(contributor) AS name
  FROM (SELECT DISTINCT contributor FROM core_all_sums WHERE contributor IS NOT NULL)
)

-- name: keep_sums
INSERT INTO state_sums BY NAME
SELECT
  file_id,
  sums.* EXCLUDE (link, contributor, note_kind, note_name, note_tokens, paths_found),
  ids.id AS contributor
FROM core_all_sums AS sums
JOIN core_file_numbers USING (link)
LEFT JOIN core_contributor_ids AS ids ON sums.contributor = ids.contributor

-- name: keep_notes
-- Only the 100 most frequent notes of each kind and file: a key that is spelled anew in every record would be a note
-- each.
INSERT INTO state_notes
WITH notes AS (
  SELECT file_id, note_kind, note_name, sum(records)::BIGINT AS records, sum(note_tokens)::HUGEINT AS tokens
  FROM core_all_sums
  JOIN core_file_numbers USING (link)
  WHERE note_kind IS NOT NULL
  GROUP BY ALL
)
FROM notes
QUALIFY row_number() OVER (PARTITION BY file_id, note_kind ORDER BY records DESC, note_name) <= 100

-- name: keep_absent_paths
-- The paths of a source that no record of a file has.
INSERT INTO state_notes
WITH found AS (
  SELECT file_id, sum(records)::BIGINT AS records, bit_or(paths_found) AS paths_found
  FROM core_all_sums
  JOIN core_file_numbers USING (link)
  GROUP BY file_id
)
SELECT file_id, 'absent_path', path, records, 0
FROM found
CROSS JOIN (SELECT unnest($paths::VARCHAR[]) AS path, generate_subscripts($paths::VARCHAR[], 1) - 1 AS position)
WHERE paths_found & (1::BIGINT << position) = 0

-- name: keep_file_notes
-- Notes of pages. A last line that is cut is only told of where DuckDB cannot read it either.
INSERT INTO state_notes
SELECT file_id, $kind, '', 1, 0
FROM core_file_numbers
WHERE link IN (SELECT unnest($links::VARCHAR[]))
  AND ($kind <> 'cut_line' OR link IN (SELECT link FROM core_all_sums WHERE reject_reason = 'unreadable_document'))

-- name: counts_present
-- Whether any accepted record of a source has each of the token counts at all; NULL where none was accepted.
SELECT
  bool_or(has_prompt_tokens) AS prompt_tokens,
  bool_or(has_completion_tokens) AS completion_tokens
FROM core_source_sums
WHERE reject_reason IS NULL
