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

-- name: columns
-- The types of the columns are compared with those of the table.
DESCRIBE FROM read_parquet($path, hive_partitioning = false)

-- name: read_parquet
-- Rows in the order of the file, 2000 in each text.
SELECT to_json(list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR] ORDER BY file_row_number)) AS rows
FROM read_parquet($path, hive_partitioning = false)
GROUP BY file_row_number // 2000
ORDER BY file_row_number // 2000

-- name: read_parquet_of_periods
SELECT
  to_json(
    list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR, days::VARCHAR] ORDER BY file_row_number)
  ) AS rows
FROM read_parquet($path, hive_partitioning = false)
GROUP BY file_row_number // 2000
ORDER BY file_row_number // 2000

-- name: read_csv
-- All rows in one text, in the order of the file.
SELECT to_json(coalesce(list([date, model_permaslug, total_tokens]), [])) AS rows
FROM published_csv($path, {date: 'VARCHAR', model_permaslug: 'VARCHAR', total_tokens: 'VARCHAR'})

-- name: parquet_keys
SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata($path) ORDER BY key
