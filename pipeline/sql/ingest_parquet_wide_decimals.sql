-- Purpose: decimal columns of a Parquet file with more digits than DuckDB holds.
-- Grain:   one row per such column.
-- Inputs:  $path.
SELECT name FROM parquet_schema($path) WHERE precision > 38
