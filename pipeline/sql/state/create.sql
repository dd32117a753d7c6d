-- Purpose: what each raw file contributed, kept from build to build so that a file is read once. A cache: deleting it
--          costs time and nothing else.
-- Inputs:  none.

-- A raw file of a source. `modified` is in nanoseconds; `reading` says how its source had it read; `kept` is the folder
-- of the archive that holds it where the file itself is gone.
CREATE TABLE IF NOT EXISTS state_files (
  file_id INTEGER, source VARCHAR, name VARCHAR, bytes BIGINT, modified BIGINT, sha256 VARCHAR, reading VARCHAR,
  kept VARCHAR
);

-- File x UTC day x model name as written x own visibility x API key x BYOK x reason to reject x reason why the counts of a
-- record contradict each other. Rejected records have no model, key or such reason; without a key, is_byok is NULL. A file that is gone may have, with negative
-- counts and the reason 'duplicate', what it repeated of others.
CREATE TABLE IF NOT EXISTS state_sums (
  file_id INTEGER, day_number BIGINT, reject_reason VARCHAR, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR,
  is_byok BOOLEAN, records BIGINT, identified_records BIGINT, has_prompt_tokens BOOLEAN, has_completion_tokens BOOLEAN,
  tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT, parts_disagree VARCHAR
);

-- Version 0.1.0 did not look for contradictions: files that it read have none.
ALTER TABLE state_sums ADD COLUMN IF NOT EXISTS parts_disagree VARCHAR;

-- What is to be told of how a file was read: file x kind x name. Version 0.1.0 noted nothing.
CREATE TABLE IF NOT EXISTS state_notes (
  file_id INTEGER, kind VARCHAR, name VARCHAR, records BIGINT, tokens HUGEINT
);

-- What repeated deliveries counted too much: source x UTC day x model name as written x own visibility x API key x BYOK.
CREATE TABLE IF NOT EXISTS state_surplus (
  source VARCHAR, day_number BIGINT, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR, is_byok BOOLEAN,
  records BIGINT, conflicting_records BIGINT, tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT
);

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

-- Copies of records that only the registry can choose from, of a source whose usage is asked for day by day: they have the
-- same greatest counts, and models of these names, a JSON list. `model` is the one that stays; `tokens` are its tokens.
CREATE TABLE IF NOT EXISTS state_ties (
  source VARCHAR, day_number BIGINT, models VARCHAR, model VARCHAR, records BIGINT, tokens HUGEINT
);

-- The sources that were read again because a newer version reads them differently, since the last finished build.
CREATE TABLE IF NOT EXISTS state_rereads (source VARCHAR);
