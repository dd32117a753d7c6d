-- Dates that were published before and keep their rows (docs/decisions/0026-ranking-under-a-rule.md).

-- name: create
-- `core_frozen_dates` also has the dates that were withdrawn: those have no rows.
CREATE OR REPLACE TEMP TABLE core_frozen (date DATE, model_permaslug VARCHAR, total_tokens HUGEINT, position BIGINT);

CREATE OR REPLACE TEMP TABLE core_frozen_dates (date DATE);

-- Models of the row of the rest that are atoms of their own, and those that are in what is left of it. Without a line in
-- core_unsplit, both are what the list of published dates says.
CREATE OR REPLACE TEMP TABLE core_frozen_atoms (date DATE, model_permaslug VARCHAR, tokens HUGEINT);

CREATE OR REPLACE TEMP TABLE core_frozen_hidden (date DATE, model_permaslug VARCHAR);

-- Frozen dates of which the list does not say it, with the rule that they are split by; without one they are not.
CREATE OR REPLACE TEMP TABLE core_unsplit (date DATE, min_contributors BIGINT, p_percent BIGINT)

-- name: split_rules
SELECT DISTINCT min_contributors, p_percent FROM core_unsplit WHERE min_contributors IS NOT NULL ORDER BY ALL

-- name: measure_unsplit
-- Dates of which the contributions of today are those of the published rows. Their named models stay apart from the rest.
CREATE OR REPLACE TEMP TABLE core_measured_dates AS
WITH unsplit AS (
  SELECT date FROM core_unsplit
  WHERE min_contributors = getvariable('min_contributors') AND p_percent = getvariable('p_percent')
),
counted AS (
  SELECT
    contribution.date,
    coalesce(published.model_permaslug, 'other') AS model_permaslug,
    sum(contribution.tokens) AS tokens
  FROM core_contributions AS contribution
  SEMI JOIN unsplit USING (date)
  LEFT JOIN core_frozen AS published
    ON contribution.date = published.date AND contribution.model_permaslug = published.model_permaslug
  GROUP BY ALL
  HAVING sum(contribution.tokens) <> 0
),
published AS (FROM core_frozen SEMI JOIN unsplit USING (date))
FROM unsplit
WHERE date NOT IN (
  SELECT date FROM counted FULL JOIN published USING (date, model_permaslug) WHERE tokens IS DISTINCT FROM total_tokens
)

-- name: keep_named
CREATE OR REPLACE TEMP TABLE core_apart AS
SELECT date, model_permaslug, total_tokens AS tokens, 0::BIGINT AS position
FROM core_frozen
SEMI JOIN core_measured_dates USING (date)
WHERE model_permaslug <> 'other'

-- name: add_split
INSERT INTO core_frozen_atoms
SELECT date, model_permaslug, tokens FROM core_apart ANTI JOIN core_named USING (date, model_permaslug)

-- name: add_rows
INSERT INTO out_rankings_daily FROM core_frozen;

INSERT INTO core_atoms
SELECT date, model_permaslug, total_tokens FROM core_frozen WHERE model_permaslug <> 'other'
UNION ALL
FROM core_frozen_atoms
UNION ALL
SELECT date, 'other', any_value(total_tokens) - coalesce(sum(tokens), 0) AS left_tokens
FROM (FROM core_frozen WHERE model_permaslug = 'other')
LEFT JOIN core_frozen_atoms USING (date)
GROUP BY date
HAVING left_tokens > 0

-- name: splits
-- Dates that are published first under a rule, or were not split yet: what the list of published dates keeps of `other`.
SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug, tokens::VARCHAR AS total_tokens
FROM (
  FROM core_atoms ANTI JOIN out_rankings_daily USING (date, model_permaslug)
  UNION ALL
  SELECT date, model_permaslug, NULL FROM core_hidden
)
WHERE date IN (SELECT date FROM core_unsplit) OR $is_ruled AND date NOT IN (FROM core_frozen_dates)
ORDER BY ALL

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
