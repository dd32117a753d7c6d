-- The history: what all releases say that were not withdrawn, in one table. Each release from `valid_from` on has the row,
-- until `valid_to`, which does not have it.

-- name: create_empty
CREATE OR REPLACE TEMP TABLE history_rows (
  "table" VARCHAR, date DATE, model_permaslug VARCHAR, total_tokens BIGINT, days INTEGER, position INTEGER,
  valid_from VARCHAR, valid_to VARCHAR
)

-- name: read
CREATE OR REPLACE TEMP TABLE history_rows AS
FROM read_parquet($path, hive_partitioning = false)

-- name: create_release
-- The rows of one release, table by table.
CREATE OR REPLACE TEMP TABLE history_release (
  "table" VARCHAR, date DATE, model_permaslug VARCHAR, total_tokens BIGINT, days INTEGER, position INTEGER
)

-- name: add_table
-- The daily table has no days.
INSERT INTO history_release BY NAME
SELECT
  *,
  $table AS "table",
  row_number() OVER (PARTITION BY date ORDER BY file_row_number) AS position
FROM read_parquet($path, hive_partitioning = false)

-- name: add_release
-- Ends the rows that the release does not have any more, and begins those that the one before it had not.
CREATE OR REPLACE TEMP TABLE history_rows AS
FROM history_rows
WHERE valid_to IS NOT NULL
UNION ALL
SELECT
  coalesce(old."table", new."table"),
  coalesce(old.date, new.date),
  coalesce(old.model_permaslug, new.model_permaslug),
  coalesce(old.total_tokens, new.total_tokens),
  coalesce(old.days, new.days),
  coalesce(old.position, new.position),
  coalesce(valid_from, $release),
  CASE WHEN new.date IS NULL THEN $release END
FROM (FROM history_rows WHERE valid_to IS NULL) AS old
FULL JOIN history_release AS new
  ON new."table" = old."table" AND new.date = old.date AND new.model_permaslug = old.model_permaslug
    AND new.total_tokens = old.total_tokens AND new.days IS NOT DISTINCT FROM old.days AND new.position = old.position

-- name: keep_releases
-- Takes out all releases but those of `kept`: a row that began or ended with one of them does so with the next that is
-- kept. Rows that only releases in between had are gone, and equal rows that now meet become one.
CREATE OR REPLACE TEMP TABLE history_rows AS
WITH kept AS (SELECT unnest($kept) AS name),
moved AS (
  SELECT row.* REPLACE (first.name AS valid_from, past.name AS valid_to)
  FROM history_rows AS row
  ASOF JOIN kept AS first ON row.valid_from <= first.name
  ASOF LEFT JOIN kept AS past ON row.valid_to <= past.name
),
begins AS (
  SELECT *, valid_from IS DISTINCT FROM lag(valid_to) OVER same_row AS is_first
  FROM moved
  WHERE valid_from IS DISTINCT FROM valid_to
  WINDOW same_row AS (PARTITION BY "table", date, model_permaslug, total_tokens, days, position ORDER BY valid_from)
),
numbered AS (
  SELECT *, count_if(is_first) OVER same_row AS interval_number
  FROM begins
  WINDOW same_row AS (PARTITION BY "table", date, model_permaslug, total_tokens, days, position ORDER BY valid_from)
)
SELECT
  "table", date, model_permaslug, total_tokens, days, position,
  min(valid_from) AS valid_from,
  arg_max_null(valid_to, valid_from) AS valid_to
FROM numbered
GROUP BY "table", date, model_permaslug, total_tokens, days, position, interval_number

-- name: write_parquet
COPY (
  FROM history_rows
  ORDER BY list_position(['daily', 'weekly', 'monthly'], "table"), date, valid_from, position
) TO $path (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)

-- name: write_csv
-- Lines of canonical CSV.
COPY (
  SELECT
    concat_ws(
      ',',
      "table",
      date,
      csv_field(model_permaslug),
      total_tokens,
      coalesce(days::VARCHAR, ''),
      position,
      valid_from,
      coalesce(valid_to, '')
    ) AS "table,date,model_permaslug,total_tokens,days,position,valid_from,valid_to"
  FROM history_rows
  ORDER BY list_position(['daily', 'weekly', 'monthly'], "table"), date, valid_from, position
) TO $path (FORMAT csv, HEADER, QUOTE '', ESCAPE '', COMPRESSION none)

-- name: read_back
-- A sum of hashes for the rows, and for each file that was written of them. Enough against damage, not against intent.
WITH written AS (
  SELECT 'rows' AS place, * FROM history_rows
  UNION ALL
  SELECT 'parquet' AS place, * FROM read_parquet($parquet, hive_partitioning = false)
  UNION ALL
  SELECT
    'csv' AS place,
    * REPLACE (nullif(days, '') AS days, nullif(valid_to, '') AS valid_to)
  FROM published_csv($csv, {
    "table": 'VARCHAR', date: 'VARCHAR', model_permaslug: 'VARCHAR', total_tokens: 'VARCHAR', days: 'VARCHAR',
    position: 'VARCHAR', valid_from: 'VARCHAR', valid_to: 'VARCHAR'
  })
)
SELECT
  place,
  count(*) AS rows,
  sum(hash("table", date, model_permaslug, total_tokens, days, position, valid_from, valid_to))::VARCHAR AS hashes
FROM written
GROUP BY place

-- name: columns
-- The columns that rows have.
DESCRIBE SELECT date, model_permaslug, total_tokens, days FROM read_parquet($path, hive_partitioning = false)

-- name: read_rows
-- The rows of a table as one release has them, a text for each month. Without days, they are those of the daily table.
SELECT to_json(list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR] ORDER BY date, position)) AS rows
FROM rows_of_release($path, $release)
WHERE "table" = 'daily'
GROUP BY date_trunc('month', date)
ORDER BY date_trunc('month', date)

-- name: read_rows_of_periods
SELECT
  to_json(
    list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR, days::VARCHAR] ORDER BY date, position)
  ) AS rows
FROM rows_of_release($path, $release)
WHERE "table" = $table
GROUP BY date_trunc('month', date)
ORDER BY date_trunc('month', date)

-- name: content_hashes
-- The hashes of the rows of each table as canonical CSV, with the header of days or of weeks and months.
SELECT
  "table",
  sha256(
    CASE "table" WHEN 'daily' THEN $header_of_days ELSE $header_of_periods END || string_agg(
      concat_ws(',', date, csv_field(model_permaslug), total_tokens, days) || chr(10), '' ORDER BY date, position
    )
  ) AS hash
FROM rows_of_release($path, $release)
GROUP BY "table"

-- name: restore_daily
-- The daily rows of a release, as the ranking of a build leaves them.
CREATE OR REPLACE TEMP TABLE out_rankings_daily AS
SELECT date, model_permaslug, total_tokens, position
FROM rows_of_release($path, $release)
WHERE "table" = 'daily'

-- name: read_all
-- The types of the columns are compared with those that it must have.
FROM read_parquet($path, hive_partitioning = false) ORDER BY file_row_number
