-- Purpose: the sums of a file of the archive, to be compared with those that were to be written.
-- Grain:   one row.
-- Inputs:  $path.
SELECT sum(records)::BIGINT AS records, sum(tokens::HUGEINT)::HUGEINT::VARCHAR AS tokens
FROM read_parquet($path, hive_partitioning = false)
