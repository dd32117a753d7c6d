-- Purpose: the rows of one day or month as Parquet. Nothing in it tells of the release, so that equal rows are equal
--          bytes.
-- Grain:   date x model, in the published order.
-- Inputs:  table out_release_rows; $first_date, $last_date, $path.
COPY (
  SELECT date, model_permaslug, total_tokens
  FROM out_release_rows
  WHERE date BETWEEN $first_date::DATE AND $last_date::DATE
  ORDER BY position
) TO $path (FORMAT parquet, COMPRESSION zstd)
