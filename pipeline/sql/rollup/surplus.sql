-- Purpose: the surplus copies of records delivered more than once: whole records decide, not the hashes of their ids
--          (DESIGN.md §6.7).
-- Grain:   as state_surplus.
-- Inputs:  view core_identified_usage over the files that hold records of core_repeated; tables core_repeated, core_models;
--          variable source.
INSERT INTO state_surplus
WITH candidate AS (
  SELECT
    usage.* EXCLUDE (visibility),
    usage.visibility AS own_visibility,
    core_models.model_permaslug,
    -- A copy that must not be published wins: private before withheld before public.
    list_position(['public', 'withheld', 'private'], coalesce(usage.visibility, core_models.visibility)) AS secrecy
  FROM core_identified_usage AS usage
  JOIN core_repeated ON usage.day_number = core_repeated.day_number AND hash(usage.request_id) = core_repeated.id_hash
  JOIN core_models ON usage.model = core_models.model AND core_models.is_valid
),
copy AS (
  SELECT
    *,
    row_number() OVER best_first AS position,
    row(instant_us, prompt_tokens, completion_tokens, model_permaslug, secrecy, cost_usd, api_key_hash, is_byok)
      AS content,
    first_value(content) OVER best_first AS best_content
  FROM candidate
  WINDOW best_first AS (
    PARTITION BY day_number, request_id
    ORDER BY
      updated_us DESC NULLS LAST, instant_us DESC, prompt_tokens DESC, completion_tokens DESC, model_permaslug DESC,
      secrecy DESC, cost_usd DESC, api_key_hash DESC NULLS LAST, is_byok DESC
  )
)
SELECT
  getvariable('source'),
  day_number,
  model,
  own_visibility,
  api_key_hash,
  is_byok,
  count(*),
  count(*) FILTER (content IS DISTINCT FROM best_content),
  sum(prompt_tokens + completion_tokens),
  sum(cost_usd),
  count(*) FILTER (is_charge_misread)
FROM copy
WHERE position > 1
GROUP BY ALL
