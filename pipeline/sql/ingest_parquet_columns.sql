-- Purpose: the columns of a Parquet file, from its footer.
-- Grain:   one row per top-level column, in the file's order.
-- Inputs:  $path.
SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet($path, hive_partitioning = false))
