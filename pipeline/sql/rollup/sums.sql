-- Purpose: the one pass over a batch of raw files: everything that later steps need to know of them.
-- Grain:   as core_sums.
-- Inputs:  view core_usage; table core_read_files.
INSERT INTO core_sums
WITH usage AS (
  SELECT
    * REPLACE (
      CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END AS model,
      CASE WHEN reject_reason IS NULL THEN visibility END AS visibility,
      CASE WHEN reject_reason IS NULL THEN api_key_hash END AS api_key_hash,
      CASE WHEN reject_reason IS NULL AND api_key_hash IS NOT NULL THEN is_byok END AS is_byok,
      CASE WHEN reject_reason IS NULL THEN parts_disagree END AS parts_disagree,
      CASE WHEN reject_reason IS NULL THEN note_kind END AS note_kind,
      CASE WHEN reject_reason IS NULL THEN note_name END AS note_name
    )
  FROM core_usage
),
summed AS (
  SELECT
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
    count(*) FILTER (is_charge_misread) AS misread_charges,
    parts_disagree,
    note_kind,
    note_name,
    sum(note_tokens) AS note_tokens
  FROM usage
  GROUP BY ALL
)
SELECT link, summed.* EXCLUDE (input_group, file_index)
FROM summed
JOIN core_read_files USING (input_group, file_index)
