-- Purpose: the names alone of what a pattern of DuckDB finds, whatever characters they have.
-- Grain:   one row for each object.
-- Inputs:  $pattern, a URL.
SELECT file AS url
FROM glob($pattern)
