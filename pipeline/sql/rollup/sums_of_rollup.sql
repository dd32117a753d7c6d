-- Purpose: the same pass over files whose rows are sums already (schemas/rollup-files.ts): tokens stand where those of the
--          prompt do, requests where those of the completion do. As long as files are checked, `records` are rows, and
--          `identified_records` what they sum; weigh.sql puts that in their place. Nothing is added up, for what is
--          rejected is judged by the number of rows.
-- Grain:   one row per row, otherwise as core_sums.
-- Inputs:  view core_usage; table core_read_files.
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
  0
FROM core_usage
JOIN core_read_files USING (input_group, file_index)
