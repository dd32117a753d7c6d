-- A date has at most $top_models models and one row of the rest.
-- Inputs: table out_rankings_daily; $top_models, $other.
SELECT date::VARCHAR AS date, count(*)::VARCHAR || ' rows' AS finding
FROM out_rankings_daily
GROUP BY date
HAVING count(*) FILTER (model_permaslug <> $other) > $top_models OR count(*) FILTER (model_permaslug = $other) > 1
