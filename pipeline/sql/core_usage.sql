-- Purpose: usage records of one source with the reason to reject them, if any.
-- Grain:   one row per raw record.
-- Inputs:  view raw_usage: the groups of the source's files, their values read but not judged.
CREATE OR REPLACE TEMP VIEW core_usage AS
SELECT
  * EXCLUDE (is_left_out) REPLACE (coalesce(cost_usd, 0) AS cost_usd, coalesce(is_byok, false) AS is_byok),
  CASE
    WHEN is_malformed THEN 'malformed_record'
    WHEN instant_us IS NULL THEN 'invalid_timestamp'
    -- No rejection, though it stands here: a record that the schema leaves out is as good as any, and counted apart.
    WHEN is_left_out THEN 'left_out'
    WHEN prompt_tokens IS NULL OR completion_tokens IS NULL THEN 'invalid_token_count'
    WHEN visibility NOT IN ('public', 'private') THEN 'invalid_visibility'
    -- A byte order mark: the client's text decoder drops it, and the model would be taken for another.
    WHEN starts_with(model, chr(65279)) THEN 'invalid_model'
  END AS reject_reason,
  -- No reason to reject: the tokens of such a record are as good as any, and what it cost is not published.
  cost_usd IS NULL OR is_byok IS NULL AS is_charge_misread,
  -- Days outside year 1 to 9999 have no date of ten characters; they are outside every dataset anyway.
  CASE WHEN instant_us IS NOT NULL THEN least(greatest(instant_us // 86400000000, -719162), 2932896) END AS day_number
FROM raw_usage
