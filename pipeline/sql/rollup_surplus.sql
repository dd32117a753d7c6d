-- Purpose: the surplus copies of records delivered more than once, exact, in memory bounded by the days of a batch:
--          64-bit hashes find the candidates (a collision only adds one), whole records decide (DESIGN.md §6.7).
-- Grain:   UTC day x model name as written x own visibility x API key x BYOK.
-- Inputs:  view core_usage over the files that hold rows of the batch; table core_models; $first_day, $last_day.
INSERT INTO core_surplus
WITH identified AS (
  SELECT *
  FROM core_usage
  WHERE reject_reason IS NULL AND request_id IS NOT NULL AND day_number BETWEEN $first_day AND $last_day
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
