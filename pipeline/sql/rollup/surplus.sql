-- Purpose: the surplus copies of records delivered more than once, exact, in memory bounded by the days of a batch:
--          64-bit hashes find the candidates (a collision only adds one), whole records decide (DESIGN.md §6.7).
-- Grain:   as state_surplus.
-- Inputs:  views core_identified_usage over the files that hold rows of the batch, core_touched_days; table core_models;
--          variable source; $first_day, $last_day.
INSERT INTO state_surplus
WITH identified AS (
  SELECT *
  FROM core_identified_usage
  WHERE day_number BETWEEN $first_day AND $last_day
    AND day_number IN (SELECT day_number FROM core_touched_days)
),
repeated AS MATERIALIZED (
  SELECT day_number, hash(request_id) AS id_hash FROM identified GROUP BY ALL HAVING count(*) > 1
),
candidate AS (
  SELECT
    identified.* EXCLUDE (visibility),
    identified.visibility AS own_visibility,
    core_models.model_permaslug,
    -- A copy that must not be published wins: private before withheld before public.
    list_position(['public', 'withheld', 'private'], coalesce(identified.visibility, core_models.visibility)) AS secrecy
  FROM identified
  JOIN repeated ON identified.day_number = repeated.day_number AND hash(identified.request_id) = repeated.id_hash
  JOIN core_models ON identified.model = core_models.model AND core_models.is_valid
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
