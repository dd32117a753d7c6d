-- A date has at least half the tokens that the seven dates before it have on average.
-- Grain:  published date; the first seven have no seven before them and are not judged.
-- Inputs: table out_rankings_daily.
WITH day AS (
  SELECT date, sum(total_tokens) AS tokens FROM out_rankings_daily GROUP BY date
),
judged_day AS (
  SELECT date, tokens, count(*) OVER week AS dates_before, sum(tokens) OVER week AS tokens_before
  FROM day
  WINDOW week AS (ORDER BY date ROWS BETWEEN 7 PRECEDING AND 1 PRECEDING)
)
SELECT
  date::VARCHAR AS date,
  format('{:,} tokens, less than half of {:,}, the mean of the seven dates before', tokens, tokens_before // 7) AS finding
FROM judged_day
WHERE dates_before = 7 AND 2 * 7 * tokens < tokens_before
ORDER BY date
