-- Purpose: usage records of one source with the reason to reject them, if any.
-- Grain:   one row per raw record.
-- Inputs:  view raw_usage: the groups of the source's files, their values read but not judged.
CREATE OR REPLACE TEMP VIEW core_usage AS
SELECT
  *,
  CASE
    WHEN is_malformed THEN 'malformed_record'
    WHEN instant_us IS NULL THEN 'invalid_timestamp'
    WHEN prompt_tokens IS NULL OR completion_tokens IS NULL THEN 'invalid_token_count'
    WHEN visibility NOT IN ('public', 'private') THEN 'invalid_visibility'
  END AS reject_reason,
  -- Days outside year 1 to 9999 have no date of ten characters; they are outside every dataset anyway.
  least(greatest(instant_us // 86400000000, -719162), 2932896) AS day_number
FROM raw_usage
