-- Purpose: the one pass over the files of a source: counts of everything that later steps need.
-- Grain:   file x UTC day x model name as written x own visibility x reason to reject. Rejected records have no model.
-- Inputs:  view core_usage.
CREATE OR REPLACE TEMP TABLE core_usage_groups AS
SELECT
  input_group,
  file_index,
  day_number,
  reject_reason,
  CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END AS model,
  CASE WHEN reject_reason IS NULL THEN visibility END AS visibility,
  count(*) AS records,
  count(request_id) AS identified_records,
  bool_or(has_prompt_tokens) AS has_prompt_tokens,
  bool_or(has_completion_tokens) AS has_completion_tokens,
  coalesce(sum(prompt_tokens + completion_tokens) FILTER (reject_reason IS NULL), 0)::HUGEINT AS tokens
FROM core_usage
GROUP BY ALL
