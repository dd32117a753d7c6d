-- The dataset from the rollup: rows in the published order, and the account of what is published.

-- name: create_atoms
-- What the published rows and those of weeks and months are sums of: UTC date x public model, as far as dates are ranked
-- now. Under a disclosure rule it is filled by disclosure.sql, and models that a date must not tell are one, $other.
CREATE OR REPLACE TEMP TABLE core_atoms AS
SELECT date, model_permaslug, sum(tokens) AS tokens
FROM core_rollup
WHERE date BETWEEN $first_date::DATE AND $last_date::DATE AND date NOT IN (FROM core_frozen_dates)
GROUP BY ALL
HAVING sum(tokens) > 0

-- name: create_rankings
-- Per date the top models by tokens, and one row that sums the others and comes last (docs/specification.md,
-- The ranking). `position` is the published order. Frozen dates are not ranked again.
CREATE OR REPLACE TEMP TABLE out_rankings_daily AS
WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY date ORDER BY tokens DESC, model_permaslug) AS position
  FROM core_atoms
)
SELECT date, model_permaslug, tokens AS total_tokens, position FROM ranked WHERE position <= $top_models
UNION ALL
SELECT date, $other, sum(tokens), $top_models + 1 FROM ranked WHERE position > $top_models GROUP BY date

-- name: create_hidden
-- Models that have tokens in the atom $other of a date: no week or month that has the date names them. Of frozen dates the
-- list of published dates says which ones, so that late records change no week.
CREATE OR REPLACE TEMP TABLE core_hidden AS
SELECT DISTINCT date, model_permaslug
FROM core_rollup
SEMI JOIN (FROM core_atoms WHERE model_permaslug = $other) USING (date)
ANTI JOIN core_atoms USING (date, model_permaslug)
WHERE tokens > 0 AND (date NOT IN (FROM core_frozen_dates) OR date IN (SELECT date FROM core_unsplit))
UNION ALL
FROM core_frozen_hidden

-- name: create_periods
-- The rows of weeks and months, with the dates that each sums; filled by add_periods for each table.
CREATE OR REPLACE TEMP TABLE out_rankings_periods (
  grain VARCHAR, date DATE, model_permaslug VARCHAR, total_tokens HUGEINT, position BIGINT, days BIGINT
)

-- name: add_periods
-- Per week or month ($grain) the top models by the tokens of all its published dates, and one row that sums the others.
INSERT INTO out_rankings_periods
WITH period AS (
  SELECT date_trunc($grain, date)::DATE AS first_date, count(DISTINCT date) AS days FROM core_atoms GROUP BY ALL
),
hidden AS (
  SELECT DISTINCT date_trunc($grain, date)::DATE AS first_date, model_permaslug FROM core_hidden
),
model_period AS (
  SELECT
    date_trunc($grain, date)::DATE AS first_date,
    CASE WHEN hidden.model_permaslug IS NULL THEN core_atoms.model_permaslug ELSE $other END AS model_permaslug,
    sum(tokens) AS tokens
  FROM core_atoms
  LEFT JOIN hidden
    ON hidden.first_date = date_trunc($grain, date)::DATE AND hidden.model_permaslug = core_atoms.model_permaslug
  GROUP BY ALL
),
ranked AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY first_date ORDER BY model_permaslug = $other, tokens DESC, model_permaslug
    ) AS position
  FROM model_period
)
SELECT
  $grain,
  first_date,
  CASE WHEN position <= $top_models AND model_permaslug <> $other THEN model_permaslug ELSE $other END AS model,
  sum(tokens),
  CASE WHEN model = $other THEN $top_models + 1 ELSE any_value(position) END,
  any_value(days)
FROM ranked
JOIN period USING (first_date)
GROUP BY first_date, model

-- name: period_rows
-- A text of rows for each week or month.
SELECT
  to_json(
    list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR, days::VARCHAR] ORDER BY position)
  ) AS rows
FROM out_rankings_periods
WHERE grain = $grain
GROUP BY date
ORDER BY date

-- name: published
-- How many public requests and models stand behind the published dates.
SELECT
  coalesce(sum(requests), 0)::BIGINT AS records,
  count(DISTINCT model_permaslug) FILTER (tokens > 0)::BIGINT AS models
FROM core_rollup
WHERE date BETWEEN $first_date::DATE AND $last_date::DATE

-- name: rows
-- A text of rows for each month.
SELECT to_json(list([strftime(date, '%Y-%m-%d'), model_permaslug, total_tokens::VARCHAR] ORDER BY date, position)) AS rows
FROM out_rankings_daily
GROUP BY date_trunc('month', date)
ORDER BY date_trunc('month', date)

-- name: outside
-- Public requests of dates before the dataset or not yet complete.
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  sum(requests)::BIGINT AS records,
  sum(tokens)::VARCHAR AS tokens
FROM core_rollup
WHERE date NOT BETWEEN $first_date::DATE AND $last_date::DATE
GROUP BY ALL
ORDER BY ALL

-- name: public_tokens
-- Tokens of some dates, published or not.
SELECT coalesce(sum(tokens), 0)::VARCHAR AS tokens
FROM core_rollup
WHERE date BETWEEN $start_date::DATE AND $end_date::DATE
