-- The dataset from the rollup: rows in the published order, and the account of what is published.

-- name: create_rankings
-- Per date the top models by tokens, and one row that sums the others and comes last (SPECIFICATION.md § Endpoints 5,
-- rules 1 to 4; DESIGN.md §6.4, §6.5). `position` is the published order. Frozen dates are not ranked again.
CREATE OR REPLACE TEMP TABLE out_rankings_daily AS
WITH model_day AS (
  SELECT date, model_permaslug, sum(tokens) AS tokens
  FROM core_rollup
  WHERE date BETWEEN $first_date::DATE AND $last_date::DATE AND date NOT IN (FROM core_frozen_dates)
  GROUP BY ALL
  HAVING sum(tokens) > 0
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY date ORDER BY tokens DESC, model_permaslug) AS position
  FROM model_day
)
SELECT date, model_permaslug, tokens AS total_tokens, position FROM ranked WHERE position <= $top_models
UNION ALL
SELECT date, $other, sum(tokens), $top_models + 1 FROM ranked WHERE position > $top_models GROUP BY date

-- name: published
-- How many public requests and models stand behind the published dates.
SELECT
  coalesce(sum(requests), 0)::BIGINT AS records,
  count(DISTINCT model_permaslug) FILTER (tokens > 0)::BIGINT AS models
FROM core_rollup
WHERE date BETWEEN $first_date::DATE AND $last_date::DATE

-- name: rows
SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug, total_tokens::VARCHAR AS total_tokens
FROM out_rankings_daily
ORDER BY date, position

-- name: outside
-- Public requests of dates before the dataset or not yet complete (DESIGN.md §6.10).
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
