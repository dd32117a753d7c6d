-- Purpose: one group of NDJSON files; `value` lists the JSON text of the canonical columns.
-- Grain:   one row per line that is not blank; a line that is no JSON has NULL in `json`.
-- Inputs:  variables files_N (paths), pointers_N (JSON pointers in the order of the canonical columns), compression_N.
FROM (
  SELECT file_index, json, json_extract(json, getvariable('pointers_N')) AS value
  FROM read_ndjson_objects(
    getvariable('files_N'),
    compression = getvariable('compression_N'),
    ignore_errors = true
  )
)
