-- Purpose: the same pass over files whose rows are sums already (schemas/rollup-files.ts): tokens stand where those of the
--          prompt do, requests where those of the completion do. As long as files are checked, `records` are rows, and
--          `identified_records` what they sum; weigh.sql puts that in their place.
-- Grain:   as core_sums.
-- Inputs:  view core_usage; table core_read_files.
INSERT INTO core_sums
WITH summed AS (
  SELECT
    input_group,
    file_index,
    day_number,
    reject_reason,
    CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END AS model,
    count(*) AS records,
    coalesce(sum(completion_tokens) FILTER (reject_reason IS NULL), 0)::BIGINT AS requests,
    bool_or(has_prompt_tokens) AS has_prompt_tokens,
    bool_or(has_completion_tokens) AS has_completion_tokens,
    coalesce(sum(prompt_tokens) FILTER (reject_reason IS NULL), 0)::HUGEINT AS tokens
  FROM core_usage
  GROUP BY ALL
)
SELECT
  link, day_number, reject_reason, model, NULL, NULL, NULL, records, requests, has_prompt_tokens, has_completion_tokens,
  tokens, 0, 0
FROM summed
JOIN core_read_files USING (input_group, file_index)
