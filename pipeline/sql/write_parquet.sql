-- Purpose: the release as Parquet; its footer tells whose it is, under which licence and as of when. DuckDB sums to
--          HUGEINT and would write that as DOUBLE, so the type is said here and checked after writing.
-- Grain:   date x model, in the published order.
-- Inputs:  table out_rankings_daily; $path; $metadata, a struct of texts.
COPY (
  SELECT date, model_permaslug, total_tokens::BIGINT AS total_tokens
  FROM out_rankings_daily
  ORDER BY date, position
) TO $path (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)
