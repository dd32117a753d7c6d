-- Purpose: the dataset: per date the top models by tokens, and one row that sums the rest
--          (SPECIFICATION.md § Endpoints 5, rules 1 to 4; DESIGN.md §6.4, §6.5). `position` gives the published order.
-- Grain:   date x model; the row of the rest has $other for its model and comes last.
-- Inputs:  table core_rollup; $first_date, $last_date, $top_models, $other.
CREATE OR REPLACE TEMP TABLE out_rankings_daily AS
WITH model_day AS (
  SELECT date, model_permaslug, sum(tokens) AS tokens
  FROM core_rollup
  WHERE date BETWEEN $first_date::DATE AND $last_date::DATE
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
