-- Dates that were published before and keep their rows (DISCLOSURE.md § Dates are published once).

-- name: create
-- `core_frozen_dates` also has the dates that were withdrawn: those have no rows.
CREATE OR REPLACE TEMP TABLE core_frozen (date DATE, model_permaslug VARCHAR, total_tokens HUGEINT, position BIGINT);

CREATE OR REPLACE TEMP TABLE core_frozen_dates (date DATE)

-- name: add_rows
INSERT INTO out_rankings_daily FROM core_frozen;

INSERT INTO core_atoms SELECT date, model_permaslug, total_tokens FROM core_frozen

-- name: late
-- Frozen dates whose usage is another one today. Private.
WITH published AS (
  SELECT date, sum(total_tokens) AS tokens FROM core_frozen GROUP BY date
),
counted AS (
  SELECT date, sum(tokens) AS tokens FROM core_rollup SEMI JOIN core_frozen_dates USING (date) GROUP BY date
)
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  published.tokens::VARCHAR AS published_tokens,
  coalesce(counted.tokens, 0)::VARCHAR AS counted_tokens
FROM published
LEFT JOIN counted USING (date)
WHERE published.tokens <> coalesce(counted.tokens, 0)
ORDER BY date

-- name: not_published
-- Dates with public usage and without rows. Private.
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  CASE WHEN date IN (FROM core_frozen_dates) THEN 'withdrawn' ELSE 'not_safe' END AS reason,
  sum(tokens)::VARCHAR AS tokens
FROM core_rollup
WHERE date BETWEEN $first_date::DATE AND $last_date::DATE
  AND date NOT IN (SELECT date FROM out_rankings_daily)
GROUP BY date
HAVING sum(tokens) > 0
ORDER BY date
