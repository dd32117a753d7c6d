-- Days and months of a release as Parquet.

-- name: create_rows
-- The rows of a release from its Parquet file. `position` is the row number in that file.
CREATE OR REPLACE TEMP TABLE out_release_rows AS
SELECT date, model_permaslug, total_tokens, file_row_number AS position
FROM read_parquet($path, hive_partitioning = false)

-- name: create_dropped_rows
-- The same from the history, of a release whose data files were dropped.
CREATE OR REPLACE TEMP TABLE out_release_rows AS
SELECT date, model_permaslug, total_tokens, row_number() OVER (ORDER BY date, position) - 1 AS position
FROM rows_of_release($path, $release)
WHERE "table" = 'daily'

-- name: write_period
-- The rows of one day or month. The file does not name the release, so equal rows give equal bytes.
COPY (
  SELECT date, model_permaslug, total_tokens
  FROM out_release_rows
  WHERE date BETWEEN $first_date::DATE AND $last_date::DATE
  ORDER BY position
) TO $path (FORMAT parquet, COMPRESSION zstd)

-- name: hashes_of_periods
-- The hash of the rows of each file as canonical CSV, in the order of the file.
SELECT
  filename AS path,
  sha256(
    $header || string_agg(
      concat_ws(',', date, csv_field(model_permaslug), total_tokens) || chr(10), '' ORDER BY file_row_number
    )
  ) AS hash
FROM read_parquet($paths, hive_partitioning = false, filename = true)
GROUP BY filename

-- name: create_remaining_rows
-- The rows of a release outside some dates, for the release that takes its place.
CREATE OR REPLACE TEMP TABLE out_rankings_daily AS
SELECT date, model_permaslug, total_tokens, file_row_number AS position
FROM read_parquet($path, hive_partitioning = false)
WHERE date NOT BETWEEN $start_date::DATE AND $end_date::DATE

-- name: dates_of_rows
-- The dates among some on which a release has rows.
SELECT DISTINCT strftime(date, '%Y-%m-%d') AS date
FROM read_parquet($path, hive_partitioning = false)
WHERE date BETWEEN $start_date::DATE AND $end_date::DATE
ORDER BY date

-- name: dates_of_dropped_rows
SELECT DISTINCT strftime(date, '%Y-%m-%d') AS date
FROM rows_of_release($path, $release)
WHERE "table" = 'daily' AND date BETWEEN $start_date::DATE AND $end_date::DATE
ORDER BY date
