-- A number fits the BIGINT of the Parquet file and is more than zero.
-- Inputs: table out_rankings_daily.
SELECT date::VARCHAR AS date, model_permaslug || ' has ' || total_tokens || ' tokens' AS finding
FROM out_rankings_daily
WHERE total_tokens NOT BETWEEN 1 AND 9223372036854775807
