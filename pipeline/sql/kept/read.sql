-- Purpose: reads the kept records of a batch of days.
-- Inputs:  table core_kept_usage; $paths of Parquet files, $first_day, $last_day.
INSERT INTO core_kept_usage BY NAME
SELECT *
FROM read_parquet($paths, hive_partitioning = false)
WHERE day_number BETWEEN $first_day AND $last_day
