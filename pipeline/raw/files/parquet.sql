-- What Parquet files say of their columns, and whether they can be read.

-- name: columns
-- The top-level columns of a file, in its order.
SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet($path, hive_partitioning = false))

-- name: wide_decimals
-- Decimal columns with more digits than DuckDB holds.
SELECT name FROM parquet_schema($path) WHERE precision > 38

-- name: schemas
-- One row per file, from its footer: files with the same text have the same columns.
SELECT file_name AS link, to_json(list(said ORDER BY column_id))::VARCHAR AS schema
FROM (SELECT file_name, column_id, struct_pack(*COLUMNS(* EXCLUDE (file_name))) AS said FROM parquet_schema($paths))
GROUP BY file_name

-- name: identified
-- Files of which every record has a text in a column, by their footers: no null, and a least value that is not empty. A
-- least value that was cut is never greater than the value.
SELECT file_name AS link
FROM parquet_metadata($paths)
WHERE path_in_schema = $column
GROUP BY file_name
HAVING bool_and(coalesce(stats_null_count = 0 AND stats_min_value > '', false))

-- name: read_whole
-- Reads every value of a file, to find out whether that works.
SELECT max(hash(raw)) FROM read_parquet($path, hive_partitioning = false) AS raw
