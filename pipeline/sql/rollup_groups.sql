-- Purpose: the one pass over the files of a source: everything that later steps need, summed in two ways at once.
-- Grain:   NOT is_by_key: file x UTC day x model name as written x own visibility x reason to reject.
--          is_by_key:     UTC day x model name as written x API key x BYOK.
--          Rejected records have no model and no key; without a key, is_byok is NULL.
-- Inputs:  view core_usage.
CREATE OR REPLACE TEMP TABLE core_usage_sums AS
WITH usage AS (
  SELECT
    * REPLACE (
      CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END AS model,
      CASE WHEN reject_reason IS NULL THEN visibility END AS visibility,
      CASE WHEN reject_reason IS NULL THEN api_key_hash END AS api_key_hash,
      CASE WHEN reject_reason IS NULL AND api_key_hash IS NOT NULL THEN is_byok END AS is_byok
    )
  FROM core_usage
)
SELECT
  grouping(file_index) = 1 AS is_by_key,
  input_group,
  file_index,
  day_number,
  reject_reason,
  model,
  visibility,
  api_key_hash,
  is_byok,
  count(*) AS records,
  count(request_id) AS identified_records,
  bool_or(has_prompt_tokens) AS has_prompt_tokens,
  bool_or(has_completion_tokens) AS has_completion_tokens,
  coalesce(sum(prompt_tokens + completion_tokens) FILTER (reject_reason IS NULL), 0)::HUGEINT AS tokens,
  sum(cost_usd) AS cost_usd,
  count(*) FILTER (is_charge_misread) AS misread_charges
FROM usage
GROUP BY GROUPING SETS (
  (input_group, file_index, day_number, reject_reason, model, visibility),
  (day_number, model, api_key_hash, is_byok)
)
