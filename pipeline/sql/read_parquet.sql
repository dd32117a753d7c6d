-- Purpose: the rows of a published Parquet file, for its check.
-- Grain:   date x model, in the file's order.
-- Inputs:  $path.
SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug, total_tokens::VARCHAR AS total_tokens
FROM read_parquet($path, hive_partitioning = false)
ORDER BY file_row_number
