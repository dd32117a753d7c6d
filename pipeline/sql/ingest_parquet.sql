-- Purpose: one group of Parquet files with the same columns, renamed by position so that no name of a file is in SQL.
-- Grain:   one row per row of a file.
-- Inputs:  variable files_N (paths); COLUMN_NAMES stands for c0, c1, … as many as the files have columns.
FROM read_parquet(getvariable('files_N'), hive_partitioning = false) AS raw(COLUMN_NAMES)
