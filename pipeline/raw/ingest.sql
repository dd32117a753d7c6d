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
-- where it is missing or something else there is a malformed record, unless a line may be an element of an inner list or a
-- record itself, which has no inner list.
SELECT
  *,
  unnest(
    CASE
      WHEN json_type(element_J, getvariable('list_K_N')) = 'ARRAY'
      THEN json_extract(json_extract(element_J, getvariable('list_K_N')), '$[*]')
      WHEN J > 0 AND json_type(element_J, getvariable('list_K_N')) = 'NULL' THEN []
      WHEN getvariable('may_be_unwrapped_N') AND json_type(element_0, getvariable('list_1_N')) IS DISTINCT FROM 'ARRAY'
        AND (J = 0 OR json_type(element_J, getvariable('list_K_N')) IS NULL)
      THEN [element_J]
      ELSE [NULL]
    END
  ) AS element_K

-- name: parquet
-- Columns are renamed by position, so that no name from a file gets into SQL: COLUMN_NAMES stands for c0, c1, …
FROM read_parquet(getvariable('files_N'), hive_partitioning = false) AS raw(COLUMN_NAMES)

-- name: usage
-- The records of all groups of a source, each with the reason to reject it, if any.
CREATE OR REPLACE TEMP VIEW core_usage AS
SELECT
  * EXCLUDE (is_left_out, is_silent)
    REPLACE (
      without_mark(model) AS model, coalesce(cost_usd, 0) AS cost_usd, coalesce(is_byok, false) AS is_byok
    ),
  reject_reason(
    malformed, instant_us IS NULL, is_left_out, prompt_tokens IS NULL OR completion_tokens IS NULL, is_silent, model,
    visibility
  ) AS reject_reason,
  -- No reason to reject: the tokens of such a record are as good as any, and what it cost is not published.
  cost_usd IS NULL OR is_byok IS NULL AS is_charge_misread,
  CASE WHEN instant_us IS NOT NULL THEN day_in_range(instant_us // 86400000000) END AS day_number
FROM raw_usage

-- name: groups
-- The same for records that were added up by what decides about them (pipeline/raw/record-groups.ts).
CREATE OR REPLACE TEMP VIEW core_groups AS
SELECT
  input_group, file_index, without_mark(model) AS model, visibility, api_key_hash, contributor, parts_disagree, note_kind, note_name,
  records, identified_records, has_prompt_tokens, has_completion_tokens, note_tokens, paths_found,
  reject_reason(malformed, day IS NULL, is_left_out, is_miscounted, is_silent, model, visibility) AS reject_reason,
  CASE WHEN day IS NOT NULL THEN day_in_range(day) END AS day_number,
  coalesce(is_byok, false) AS is_byok,
  prompt_tokens + completion_tokens AS tokens,
  coalesce(cost_usd, 0) AS cost_usd,
  CASE WHEN is_cost_misread OR is_byok IS NULL THEN records ELSE 0 END AS misread_charges,
  {
    'input': prompt_tokens,
    'cache_read': cache_read,
    'cache_write': cache_write,
    'reasoning': reasoning,
    'audio': audio,
    'total': total
  } AS parts
FROM raw_groups
