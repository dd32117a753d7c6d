-- Every date between the first and the last one has public usage.
-- Grain:  UTC date.
-- Inputs: table out_rankings_daily.
WITH day AS (
  SELECT DISTINCT date FROM out_rankings_daily
),
neighbour AS (
  SELECT date AS date_before, lead(date) OVER (ORDER BY date) AS date_after FROM day
),
missing AS (
  SELECT unnest(range(date_before + 1, date_after, INTERVAL 1 DAY))::DATE AS date, date_before, date_after
  FROM neighbour
  WHERE date_after > date_before + 1
)
SELECT
  date::VARCHAR AS date,
  'no public usage, although ' || date_before || ' and ' || date_after || ' have some' AS finding
FROM missing
ORDER BY missing.date
