-- What the archive keeps of missing files.

-- name: write_records
-- Records with a request_id, so that a later duplicate of one of them is known when the file is missing.
COPY (
  SELECT
    * EXCLUDE (contributor_text)
      REPLACE (coalesce(contributor, contributor_id(contributor_name(contributor_text))) AS contributor)
  FROM core_identified_usage
) TO $path (FORMAT parquet, COMPRESSION zstd)

-- name: write_sums
-- Tokens are written as text, for Parquet has no integer of 128 bits.
COPY (
  SELECT * EXCLUDE (file_id) REPLACE (tokens::VARCHAR AS tokens, parts::VARCHAR AS parts)
  FROM core_source_sums
  WHERE file_id = $file_id
  ORDER BY ALL
) TO $path (FORMAT parquet)

-- name: read_sums
-- Enters what a kept file contributed into a state that does not know it.
INSERT INTO state_sums BY NAME
SELECT $file_id AS file_id, * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)
