-- Writes the Parquet file of a release, and reads its data files back. The reader of CSV shares nothing with the
-- writer.

-- name: write_parquet
-- The footer says whose the release is, under which license and as of when. DuckDB sums to HUGEINT and would write that
-- as DOUBLE, so the type is named here and checked after writing.
COPY (
  SELECT date, model_permaslug, total_tokens::BIGINT AS total_tokens
  FROM out_rankings_daily
  ORDER BY date, position
) TO $path (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)

-- name: read_parquet
SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug, total_tokens::VARCHAR AS total_tokens
FROM read_parquet($path, hive_partitioning = false)
ORDER BY file_row_number

-- name: read_csv
SELECT *
FROM read_csv(
  $path,
  columns = {date: 'VARCHAR', model_permaslug: 'VARCHAR', total_tokens: 'VARCHAR'},
  compression = $compression,
  auto_detect = false,
  header = true,
  delim = ',',
  quote = '"',
  escape = '"',
  parallel = false
)

-- name: parquet_keys
-- What a file says of itself in its footer.
SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata($path) ORDER BY key
