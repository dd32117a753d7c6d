-- Purpose: the rows of a release as its Parquet file has them, to write its days and months from.
-- Grain:   date x model; `position` is the place in the file.
-- Inputs:  $path.
CREATE OR REPLACE TEMP TABLE out_release_rows AS
SELECT date, model_permaslug, total_tokens, file_row_number AS position
FROM read_parquet($path, hive_partitioning = false)
