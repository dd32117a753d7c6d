-- Purpose: the release as Parquet. DuckDB sums to HUGEINT and would write that as DOUBLE, so the type is said here
--          and checked after writing.
-- Grain:   date x model, in the published order.
-- Inputs:  table out_rankings_daily; $path.
COPY (
  SELECT date, model_permaslug, total_tokens::BIGINT AS total_tokens
  FROM out_rankings_daily
  ORDER BY date, position
) TO $path (FORMAT parquet, COMPRESSION zstd)
