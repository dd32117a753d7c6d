-- Where the sums of new files are kept until the state has them: in core_sums, and what is many rows in Parquet files. A
-- table in memory takes 350 bytes a row, for it is not compressed.

-- name: rows
SELECT count(*)::INTEGER AS rows FROM core_sums

-- name: write
-- Parquet has no integer of 128 bits, so these are decimals of 38 digits.
COPY (
  SELECT
    * REPLACE (
      tokens::DECIMAL(38, 0) AS tokens,
      note_tokens::DECIMAL(38, 0) AS note_tokens,
      parts::STRUCT(
        input DECIMAL(38, 0), cache_read DECIMAL(38, 0), cache_write DECIMAL(38, 0), reasoning DECIMAL(38, 0),
        audio DECIMAL(38, 0), total DECIMAL(38, 0)
      ) AS parts
    )
  FROM core_sums
) TO $path (FORMAT parquet)

-- name: in_table
-- All sums, where none are in files.
CREATE OR REPLACE TEMP VIEW core_all_sums AS FROM core_sums

-- name: in_files
-- All sums. The variable `sums_files` names the files.
CREATE OR REPLACE TEMP VIEW core_all_sums AS
FROM core_sums
UNION ALL
SELECT
  * REPLACE (
    tokens::HUGEINT AS tokens,
    note_tokens::HUGEINT AS note_tokens,
    parts::STRUCT(
      input HUGEINT, cache_read HUGEINT, cache_write HUGEINT, reasoning HUGEINT, audio HUGEINT, total HUGEINT
    ) AS parts
  )
FROM read_parquet(getvariable('sums_files'), hive_partitioning = false)
