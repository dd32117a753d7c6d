-- A model has one row a date.
-- Inputs: table out_rankings_daily.
SELECT date::VARCHAR AS date, model_permaslug || ' has ' || count(*) || ' rows' AS finding
FROM out_rankings_daily
GROUP BY date, model_permaslug
HAVING count(*) > 1
