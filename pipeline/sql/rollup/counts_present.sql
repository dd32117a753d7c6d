-- Purpose: whether any accepted record of a source has each of the token counts at all.
-- Grain:   one row; NULL where no record was accepted.
-- Inputs:  view core_source_sums.
SELECT
  bool_or(has_prompt_tokens) AS prompt_tokens,
  bool_or(has_completion_tokens) AS completion_tokens
FROM core_source_sums
WHERE reject_reason IS NULL
