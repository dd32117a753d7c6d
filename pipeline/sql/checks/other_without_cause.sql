-- There is a row of the rest only behind $top_models models.
-- Inputs: table out_rankings_daily; $top_models, $other.
SELECT date::VARCHAR AS date, 'has a row of the rest behind ' || (count(*) - 1) || ' models' AS finding
FROM out_rankings_daily
GROUP BY date
HAVING count(*) FILTER (model_permaslug = $other) > 0 AND count(*) <= $top_models
