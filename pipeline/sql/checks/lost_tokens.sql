-- The rows of a date add up to the tokens of its public models.
-- Inputs: tables out_rankings_daily, core_rollup; $first_date, $last_date.
WITH published AS (
  SELECT date, sum(total_tokens) AS tokens FROM out_rankings_daily GROUP BY date
),
counted AS (
  SELECT date, sum(tokens) AS tokens
  FROM core_rollup
  WHERE date BETWEEN $first_date::DATE AND $last_date::DATE
  GROUP BY date
)
SELECT
  date::VARCHAR AS date,
  'publishes ' || coalesce(published.tokens, 0) || ' tokens of ' || coalesce(counted.tokens, 0) AS finding
FROM published
FULL JOIN counted USING (date)
WHERE coalesce(published.tokens, 0) <> coalesce(counted.tokens, 0)
