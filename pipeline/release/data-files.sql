-- Writes the Parquet files of a release, and reads its data files back.

-- name: write_parquet
-- DuckDB sums to HUGEINT and would write DOUBLE, so cast here; the type is checked after writing.
COPY (
  SELECT date, model_permaslug, total_tokens::BIGINT AS total_tokens
  FROM out_rankings_daily
  ORDER BY date, position
) TO $path (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)

-- name: write_parquet_of_periods
COPY (
  SELECT date, model_permaslug, total_tokens::BIGINT AS total_tokens, days::INTEGER AS days
  FROM out_rankings_periods
  WHERE grain = $grain
  ORDER BY out_rankings_periods.date, position
) TO $path (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)

-- name: read_parquet
-- The types of the columns are compared with those of the table.
FROM read_parquet($path, hive_partitioning = false) ORDER BY file_row_number

-- name: read_csv
FROM published_csv($path, {date: 'VARCHAR', model_permaslug: 'VARCHAR', total_tokens: 'VARCHAR'})

-- name: parquet_keys
SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata($path) ORDER BY key
