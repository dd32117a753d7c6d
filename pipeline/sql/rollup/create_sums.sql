-- Purpose: what the files of this build that are new or changed contributed; filled batch after batch of files.
-- Grain:   file x UTC day x model name as written x own visibility x API key x BYOK x reason to reject
--          x reason why the counts of a record contradict each other x note. Rejected records have no model, key, such reason
--          or note; without a key, is_byok is NULL.
CREATE OR REPLACE TEMP TABLE core_sums (
  link VARCHAR, day_number BIGINT, reject_reason VARCHAR, model VARCHAR, visibility VARCHAR, api_key_hash VARCHAR,
  is_byok BOOLEAN, records BIGINT, identified_records BIGINT, has_prompt_tokens BOOLEAN, has_completion_tokens BOOLEAN,
  tokens HUGEINT, cost_usd DECIMAL(38, 9), misread_charges BIGINT, parts_disagree VARCHAR,
  note_kind VARCHAR, note_name VARCHAR, note_tokens HUGEINT
)
