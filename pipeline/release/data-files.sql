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

-- name: changed_dates
-- The dates on which a file and out_rankings_daily have different rows.
SELECT DISTINCT strftime(date, '%Y-%m-%d') AS date
FROM (SELECT date, model_permaslug, total_tokens, true AS has_it FROM read_parquet($path, hive_partitioning = false))
FULL JOIN (SELECT date, model_permaslug, total_tokens, true AS gets_it FROM out_rankings_daily)
  USING (date, model_permaslug, total_tokens)
WHERE has_it IS NULL OR gets_it IS NULL

-- name: read_dates
-- The rows of a file on some dates.
SELECT to_json(list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR] ORDER BY file_row_number)) AS rows
FROM read_parquet($path, hive_partitioning = false)
WHERE date IN (SELECT unnest($dates)::DATE)
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

-- name: content_hash
-- How many rows a file has, and their hash as canonical CSV, with the `$header` of the table.
SELECT
  count(*) AS rows,
  sha256(
    $header || coalesce(
      string_agg(
        concat_ws(',', *COLUMNS(* REPLACE (csv_field(model_permaslug) AS model_permaslug))) || chr(10), ''
        ORDER BY file_row_number
      ),
      ''
    )
  ) AS hash
FROM read_parquet($path, hive_partitioning = false)

-- name: parquet_keys
SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata($path) ORDER BY key
