-- Purpose: what Parquet files say of their columns, from their footers: files with the same text have the same columns.
-- Grain:   one row per file.
-- Inputs:  $paths.
SELECT file_name AS link, to_json(list(said ORDER BY column_id))::VARCHAR AS schema
FROM (SELECT file_name, column_id, struct_pack(*COLUMNS(* EXCLUDE (file_name))) AS said FROM parquet_schema($paths))
GROUP BY file_name
