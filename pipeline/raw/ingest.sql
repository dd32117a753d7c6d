-- From raw files to typed records. Each group of files with the same columns is one FROM clause below, in a SELECT that
-- pipeline/raw/ingest.ts writes. N stands for the number of the group.

-- name: csv
-- Files with the same header. Every column is text and named by its position: c0, c1, … Records with another number of
-- fields than the header go to the table reject_errors.
FROM read_csv(
  getvariable('files_N'),
  columns = getvariable('columns_N'),
  compression = getvariable('compression_N'),
  delim = getvariable('delimiter_N'),
  parallel = getvariable('parallel_N'),
  max_line_size = getvariable('max_line_size_N'),
  buffer_size = getvariable('buffer_size_N'),
  auto_detect = false,
  hive_partitioning = false,
  header = true,
  quote = '"',
  escape = '"',
  store_rejects = true,
  rejects_limit = 0
)

-- name: ndjson
-- One row per line that is not blank. `json` is NULL where a line is not JSON; `value` lists the JSON text at each
-- pointer.
FROM (
  SELECT file_index, json, json_extract(json, getvariable('pointers_N')) AS value
  FROM read_ndjson_objects(
    getvariable('files_N'),
    compression = getvariable('compression_N'),
    maximum_object_size = getvariable('longest_line_N'),
    ignore_errors = true
  )
)

-- name: documents
-- The same for lines with lists of records in them: element_0 is a line. ADDED stands for what only rejects need.
SELECT file_index, json AS element_0 ADDED
FROM read_ndjson_objects(
  getvariable('files_N'),
  compression = getvariable('compression_N'),
  maximum_object_size = getvariable('longest_line_N'),
  ignore_errors = true
)

-- name: with_records
-- Lines that have none of the keys of lines without records.
WHERE coalesce(len(list_filter(json_extract(element_0, getvariable('other_keys_N')), lambda found: found IS NOT NULL)), 0) = 0

-- name: elements
-- Each element of the list at a path of the level above, J. A list that is empty, or null within another list, has none;
-- where it is missing or something else there is a malformed record, unless a line may be a record itself.
SELECT
  *,
  unnest(
    CASE
      WHEN json_type(element_J, getvariable('list_K_N')) = 'ARRAY'
      THEN json_extract(json_extract(element_J, getvariable('list_K_N')), '$[*]')
      WHEN J > 0 AND json_type(element_J, getvariable('list_K_N')) = 'NULL' THEN []
      ELSE [CASE WHEN J = 0 AND getvariable('may_be_unwrapped_N') THEN element_J END]
    END
  ) AS element_K

-- name: parquet
-- Columns are renamed by position, so that no name from a file gets into SQL: COLUMN_NAMES stands for c0, c1, …
FROM read_parquet(getvariable('files_N'), hive_partitioning = false) AS raw(COLUMN_NAMES)

-- name: usage
-- The records of all groups of a source, each with the reason to reject it, if any.
CREATE OR REPLACE TEMP VIEW core_usage AS
SELECT
  * EXCLUDE (is_left_out) REPLACE (coalesce(cost_usd, 0) AS cost_usd, coalesce(is_byok, false) AS is_byok),
  CASE
    WHEN is_malformed THEN 'malformed_record'
    WHEN instant_us IS NULL THEN 'invalid_timestamp'
    -- No rejection, though it stands here: a record that the schema leaves out is as good as any, and counted apart.
    WHEN is_left_out THEN 'left_out'
    WHEN prompt_tokens IS NULL OR completion_tokens IS NULL THEN 'invalid_token_count'
    WHEN visibility NOT IN ('public', 'private') THEN 'invalid_visibility'
    -- A byte order mark: the client's text decoder drops it, and the model would be taken for another.
    WHEN starts_with(model, chr(65279)) THEN 'invalid_model'
  END AS reject_reason,
  -- No reason to reject: the tokens of such a record are as good as any, and what it cost is not published.
  cost_usd IS NULL OR is_byok IS NULL AS is_charge_misread,
  -- Days outside year 1 to 9999 have no date of ten characters; they are outside every dataset anyway.
  CASE WHEN instant_us IS NOT NULL THEN least(greatest(instant_us // 86400000000, -719162), 2932896) END AS day_number
FROM raw_usage
