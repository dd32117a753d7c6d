-- A model that has the most tokens of a date was published on a date before.
-- Grain:  published date; the first seven are not judged, for everything is new in a young dataset.
-- Inputs: table out_rankings_daily.
WITH ranked AS (
  SELECT
    *,
    dense_rank() OVER (ORDER BY date) AS date_number,
    min(date) OVER (PARTITION BY model_permaslug) AS model_since
  FROM out_rankings_daily
)
SELECT
  date::VARCHAR AS date,
  format('{} has the most tokens, {:,}, and was on no date before', model_permaslug, total_tokens) AS finding
FROM ranked
WHERE position = 1 AND date = model_since AND date_number > 7
ORDER BY date
