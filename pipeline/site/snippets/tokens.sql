-- DuckDB 1.5 or newer: duckdb < tokens.sql
SET VARIABLE base = 'https://tokenboard.example/';

CREATE TEMP VIEW rankings AS
FROM read_parquet(getvariable('base') || 'datasets/rankings-daily/v1/latest/rankings-daily.parquet');

SELECT model_permaslug, sum(total_tokens)::BIGINT AS tokens
FROM rankings
WHERE model_permaslug <> 'other' AND date > (SELECT max(date) FROM rankings) - 7
GROUP BY model_permaslug
ORDER BY tokens DESC
LIMIT 10;
