-- Purpose: every value of a Parquet file, to find out whether all of it can be read.
-- Grain:   one row.
-- Inputs:  $path.
SELECT max(hash(raw)) FROM read_parquet($path, hive_partitioning = false) AS raw
