-- Within a date tokens fall, equal ones stand in the order of their slugs, and the row of the rest comes last.
-- Inputs: table out_rankings_daily; $other.
WITH neighbour AS (
  SELECT
    *,
    lead(model_permaslug) OVER by_position AS next_model,
    lead(total_tokens) OVER by_position AS next_tokens
  FROM out_rankings_daily
  WINDOW by_position AS (PARTITION BY date ORDER BY position)
)
SELECT date::VARCHAR AS date, model_permaslug || ' stands before ' || next_model AS finding
FROM neighbour
WHERE model_permaslug = $other AND next_model IS NOT NULL
  OR next_model <> $other AND (total_tokens < next_tokens OR total_tokens = next_tokens AND model_permaslug >= next_model)
