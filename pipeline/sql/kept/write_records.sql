-- Purpose: keeps the records of one file that have a request_id, so that a later delivery of one of them is still known
--          for a copy when the file is gone.
-- Inputs:  view core_identified_usage over that file; $path.
COPY (FROM core_identified_usage) TO $path (FORMAT parquet, COMPRESSION zstd)
