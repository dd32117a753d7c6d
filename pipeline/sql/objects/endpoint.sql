-- Purpose: the endpoint that the environment names in place of Amazon's.
-- Grain:   one row, or none where it names none.
SELECT value
FROM duckdb_settings()
WHERE name = 's3_endpoint' AND value NOT IN ('', 's3.amazonaws.com')
