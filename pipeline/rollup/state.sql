-- The state: what each raw file contributed, kept from build to build so that a file is read once. The variable
-- `source` names the source that is read; days before `open_day` are archived.

-- name: create_version
-- One row; none in a state that was just created.
CREATE TABLE IF NOT EXISTS state_version (version INTEGER)

-- name: version
SELECT version FROM state_version

-- name: create

-- A raw file of a source. `modified` is in nanoseconds; `reading` says how its source had it read; `kept` is the folder
-- of the archive that holds it where the file itself is gone.
CREATE TABLE IF NOT EXISTS state_files (
  file_id INTEGER, source VARCHAR, name VARCHAR, bytes BIGINT, modified BIGINT, sha256 VARCHAR, reading VARCHAR,
  kept VARCHAR
);

-- File x UTC day x model name as written x own visibility x API key x BYOK x reason to reject x reason why the counts
-- of a record contradict each other. Rejected records have no model, key or such reason; without a key, is_byok is
-- NULL. A file that is gone may have, with negative counts and the reason 'duplicate', what it repeated of others.
-- Numbers of 128 bits are not compressed: to unpack a million of them takes DuckDB half a second.
-- `parts`: of the tokens, those of the prompt, and of these or the completion what the product counts apart. NULL where
-- nobody says. `total` is the product's own sum. `contributor` is an id (macros.sql).
CREATE TABLE IF NOT EXISTS state_sums (
  file_id INTEGER, day_number BIGINT, reject_reason VARCHAR, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR,
  is_byok BOOLEAN, records BIGINT, identified_records BIGINT, has_prompt_tokens BOOLEAN, has_completion_tokens BOOLEAN,
  tokens HUGEINT USING COMPRESSION uncompressed, cost_usd DECIMAL(38, 9) USING COMPRESSION uncompressed,
  misread_charges BIGINT, parts_disagree VARCHAR,
  parts STRUCT(input HUGEINT, cache_read HUGEINT, cache_write HUGEINT, reasoning HUGEINT, audio HUGEINT, total HUGEINT),
  contributor BLOB
);

-- What is to be told of how a file was read: file x kind x name.
CREATE TABLE IF NOT EXISTS state_notes (
  file_id INTEGER, kind VARCHAR, name VARCHAR, records BIGINT, tokens HUGEINT
);

-- What repeated deliveries counted too much: source x UTC day x model name as written x own visibility x API key x
-- BYOK x contributor. `reason` is duplicate, or why else they do not count; NULL for duplicates of days.
CREATE TABLE IF NOT EXISTS state_surplus (
  source VARCHAR, day_number BIGINT, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR, is_byok BOOLEAN,
  records BIGINT, conflicting_records BIGINT, tokens HUGEINT USING COMPRESSION uncompressed,
  cost_usd DECIMAL(38, 9) USING COMPRESSION uncompressed, misread_charges BIGINT,
  parts STRUCT(input HUGEINT, cache_read HUGEINT, cache_write HUGEINT, reasoning HUGEINT, audio HUGEINT, total HUGEINT),
  contributor BLOB, reason VARCHAR
);

-- A sample of the ids of a file, one of so many, and how many ids two files of different sources have in common.
CREATE TABLE IF NOT EXISTS state_sampled_ids (file_id INTEGER, one_in INTEGER, id_hash UINTEGER);

CREATE TABLE IF NOT EXISTS state_shared_ids (file_id INTEGER, other_file_id INTEGER, ids BIGINT);

-- The days whose repeated records have to be looked for again, those that are archived when they are open again.
CREATE TABLE IF NOT EXISTS state_touched_days (source VARCHAR, day_number BIGINT);

-- What the registry said of each model name of a source when the surplus was found.
CREATE TABLE IF NOT EXISTS state_models (
  source VARCHAR, model VARCHAR, model_permaslug VARCHAR, visibility VARCHAR, is_valid BOOLEAN
);

-- The rejected records of each file, as they were written below state/rejects.
CREATE TABLE IF NOT EXISTS state_rejects (
  source VARCHAR, file VARCHAR, sha256 VARCHAR, reason VARCHAR, records BIGINT
);

-- Copies of records that only the registry can choose from, of a source whose usage is asked for day by day: they have
-- the same greatest counts, and models of these names, a JSON list. `model` is the one that stays; `tokens` are its
-- tokens.
CREATE TABLE IF NOT EXISTS state_ties (
  source VARCHAR, day_number BIGINT, models VARCHAR, model VARCHAR, records BIGINT, tokens HUGEINT
);

-- The sources that were read again because a newer version reads them differently, since the last finished build.
CREATE TABLE IF NOT EXISTS state_rereads (source VARCHAR);

-- name: set_version
CREATE OR REPLACE TABLE state_version AS SELECT $version::INTEGER AS version

-- name: version_table
-- Nothing for a new state.
SELECT table_name AS name FROM duckdb_tables() WHERE table_name = 'state_version'

-- name: files_table
-- Nothing for a new state.
SELECT table_name AS name FROM duckdb_tables() WHERE table_name = 'state_files'

-- name: present_files
-- The raw files of all sources that were there when they were last read.
SELECT source, name, bytes, modified FROM state_files WHERE kept IS NULL

-- name: fingerprint
SELECT sha256(
  concat_ws(chr(10), (SELECT max(version) FROM state_version), string_agg(state_files::VARCHAR, chr(10) ORDER BY file_id))
) AS fingerprint
FROM state_files

-- name: sources
SELECT DISTINCT source FROM state_files ORDER BY source

-- name: files
SELECT file_id, name, bytes, modified, sha256, reading, kept
FROM state_files
WHERE source = getvariable('source')
ORDER BY name, file_id

-- name: files_with_records
-- With what tells whether a file lost records. `open_records` are accepted ones of dates that are not archived.
-- `identified_records` have a request_id, `unidentified_records` have none; both include records of misdated days.
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

-- name: contents
-- The contents of files that are not missing, and how they were read.
SELECT DISTINCT sha256, reading FROM state_files WHERE kept IS NULL ORDER BY ALL

-- name: shared_contents
-- Files with accepted records whose content another source has, too.
WITH counted AS (
  SELECT source, name, sha256, reading
  FROM state_files
  WHERE kept IS NULL AND EXISTS (
    FROM state_sums WHERE state_sums.file_id = state_files.file_id AND reject_reason IS NULL
  )
)
SELECT
  one.source, one.name, other.source AS other_source, other.name AS other_name,
  one.name = other.name OR one.reading = other.reading AS is_in_one_place
FROM counted AS one
JOIN counted AS other ON one.sha256 = other.sha256 AND one.source < other.source
ORDER BY ALL

-- name: take_over
-- Gives files that a previous version read just as this one does this version's name for that reading.
UPDATE state_files SET reading = $reading WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: next_file
-- The first number that no file has.
SELECT coalesce(max(file_id), 0)::INTEGER + 1 AS file_id FROM state_files

-- name: create_renamed
-- Files of known content under another name, size or time of change; filled by the engine.
CREATE OR REPLACE TEMP TABLE core_renamed (file_id INTEGER, name VARCHAR, bytes BIGINT, modified BIGINT)

-- name: rename
UPDATE state_files
SET name = core_renamed.name, bytes = core_renamed.bytes, modified = core_renamed.modified
FROM core_renamed
WHERE state_files.file_id = core_renamed.file_id

-- name: set_kept
-- Notes in which folder the archive holds a file.
UPDATE state_files SET kept = $kept WHERE file_id = $file_id

-- name: touch_files
-- Marks the days on which files have records that may be duplicates. Archived days too, for the archive may be an older
-- one again.
INSERT INTO state_touched_days
SELECT getvariable('source'), day_number
FROM state_sums
WHERE file_id IN (SELECT unnest($file_ids)::INTEGER) AND reject_reason IS NULL AND identified_records > 0
EXCEPT
FROM state_touched_days

-- name: count_sums
-- About how many rows the sums are, which DuckDB knows without counting.
SELECT estimated_size AS rows FROM duckdb_tables() WHERE table_name = 'state_sums'

-- name: note_reread
-- Notes that the source was read again because this version reads it differently.
INSERT INTO state_rereads VALUES (getvariable('source'))

-- name: rereads
-- The sources that were read again since the last finished build.
SELECT DISTINCT source FROM state_rereads ORDER BY source

-- name: drop_sums
DELETE FROM state_sums WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: drop_notes
DELETE FROM state_notes WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: drop_ids
DELETE FROM state_sampled_ids WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: drop_shared
DELETE FROM state_shared_ids
WHERE file_id IN (SELECT unnest($file_ids)::INTEGER) OR other_file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: drop_files
DELETE FROM state_files WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)

-- name: forget_stray_surplus
-- Forgets the surplus of days of which the source has no records any more.
DELETE FROM state_surplus
WHERE source = getvariable('source')
  AND day_number NOT IN (
    SELECT day_number FROM state_sums JOIN state_files USING (file_id)
    WHERE source = getvariable('source') AND day_number IS NOT NULL
  )

-- name: forget_stray_ties
-- The same for ties.
DELETE FROM state_ties
WHERE source = getvariable('source')
  AND day_number NOT IN (
    SELECT day_number FROM state_sums JOIN state_files USING (file_id)
    WHERE source = getvariable('source') AND day_number IS NOT NULL
  )

-- name: forget_rereads
DELETE FROM state_rereads
