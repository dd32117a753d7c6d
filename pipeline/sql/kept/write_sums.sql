-- Purpose: keeps what a file contributed. Tokens are written as text, for Parquet has no integer of 128 bits.
-- Inputs:  view core_source_sums; $file_id, $path.
COPY (
  SELECT * EXCLUDE (file_id) REPLACE (tokens::VARCHAR AS tokens) FROM core_source_sums WHERE file_id = $file_id ORDER BY ALL
) TO $path (FORMAT parquet)
