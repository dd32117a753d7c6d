-- Purpose: the files that the dates of a source come from that are being closed, so that their records are known again.
-- Grain:   file x UTC day. Tokens as text, for Parquet has no integer of 128 bits.
-- Inputs:  view core_source_sums; table state_files; variable open_day; $before_day, $path.
COPY (
  SELECT name, sha256, reading, day_number, sum(records)::BIGINT AS records, sum(tokens)::HUGEINT::VARCHAR AS tokens
  FROM core_source_sums
  JOIN state_files USING (file_id)
  WHERE day_number >= getvariable('open_day') AND day_number < $before_day
  GROUP BY ALL
  ORDER BY ALL
) TO $path (FORMAT parquet)
