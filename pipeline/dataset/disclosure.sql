-- Which cells are published under a disclosure rule. A cell is what one published number is the sum of: a model on a
-- date, or the row of the rest of a date. Afterwards core_named and core_rest hold what is published.

-- name: create_contributions
-- What each contributor has of a public model on a date. Where `contributor` is NULL it is unknown, unless the usage is
-- exempt: then it is no customer's. `no_customer` is the word for nobody that stands in place of a customer.
CREATE OR REPLACE TEMP TABLE core_contributions (
  date DATE, model_permaslug VARCHAR, contributor BLOB, is_exempt BOOLEAN, tokens HUGEINT, no_customer VARCHAR
)

-- name: no_customers
-- The words for nobody in the contributions, the most frequent first.
SELECT no_customer AS word, sum(tokens)::HUGEINT AS tokens
FROM core_contributions
WHERE no_customer IS NOT NULL
GROUP BY ALL
ORDER BY tokens DESC, word

-- name: count_kept_unnamed
-- How many unsafe cells of core_cells would be safe if each such word were a customer.
WITH if_customers AS (
  FROM measured_cells('core_word_contributions', getvariable('min_contributors'), getvariable('p_percent'))
)
SELECT count(*) AS cells
FROM if_customers
SEMI JOIN (FROM core_cells WHERE NOT is_safe) USING (date, cell)
WHERE is_safe

-- name: define_measured_cells
-- Whether each cell is safe: enough contributors have tokens, and the second largest of them cannot estimate the largest
-- to within $p_percent (Hundepool et al., Statistical Disclosure Control, chapter 4). That is published, and tells who knows
-- that a cell passed: so the bound applied is a secret one between p · (2 + p/100) and twice that, here in thousandths of a
-- percent. `bound_share` says where (-1: p itself); without it nothing with a contributor is safe. Unknown tokens count as the largest one's.
-- Exempt tokens do not count. `contributions` names a table of date, cell, contributor, is_exempt and tokens. Under a lost
-- key, what is subtracted may have another id than what it is subtracted from: a negative sum is unknown.
CREATE OR REPLACE TEMP MACRO measured_cells(contributions, min_contributors, p_percent) AS TABLE
WITH contribution AS (
  SELECT date, cell, contributor, is_exempt, sum(tokens) AS tokens
  FROM query_table(contributions)
  GROUP BY ALL
  HAVING sum(tokens) <> 0
),
measured AS (
  SELECT
    date,
    cell,
    sum(tokens)::HUGEINT AS tokens,
    count(contributor) FILTER (NOT is_exempt AND tokens > 0) AS contributors,
    coalesce(sum(tokens) FILTER (NOT is_exempt), 0)::HUGEINT AS protected,
    greatest(coalesce(sum(tokens) FILTER (NOT is_exempt AND (contributor IS NULL OR tokens < 0)), 0), 0) AS unknown,
    max(tokens, 2) FILTER (NOT is_exempt AND contributor IS NOT NULL AND tokens > 0) AS largest
  FROM contribution
  GROUP BY ALL
  HAVING sum(tokens) > 0
),
compared AS (
  SELECT *, unknown + coalesce(largest[1], 0) AS first, coalesce(largest[2], 0) AS second FROM measured
)
SELECT
  date,
  cell,
  tokens,
  protected,
  contributors,
  first::HUGEINT AS largest,
  protected = 0
  OR coalesce(
    contributors >= min_contributors
      AND 100000 * (protected - first - second)
        >= greatest(1000 * p_percent, 10 * p_percent * (200 + p_percent) * (1 + getvariable('bound_share')))::HUGEINT * first,
    false
  ) AS is_safe
FROM compared

-- name: create_measured_dates
-- The dates whose cells are measured: those that are ranked now.
CREATE TEMP TABLE IF NOT EXISTS core_frozen_dates (date DATE);

CREATE OR REPLACE TEMP TABLE core_measured_dates AS
SELECT DISTINCT date FROM core_contributions
WHERE date BETWEEN getvariable('first_date')::DATE AND getvariable('last_date')::DATE
  AND date NOT IN (FROM core_frozen_dates)

-- name: create_cells
-- Every model on every measured date.
CREATE OR REPLACE TEMP VIEW core_model_contributions AS
SELECT * RENAME (model_permaslug AS cell) FROM core_contributions SEMI JOIN core_measured_dates USING (date);

CREATE OR REPLACE TEMP VIEW core_word_contributions AS
SELECT * REPLACE (coalesce(contributor, encode('word ' || no_customer)) AS contributor) FROM core_model_contributions;

CREATE OR REPLACE TEMP TABLE core_cells AS
FROM measured_cells('core_model_contributions', getvariable('min_contributors'), getvariable('p_percent'));

-- The models that a ranking without the rule names.
CREATE OR REPLACE TEMP VIEW core_largest AS
FROM core_cells
QUALIFY row_number() OVER (PARTITION BY date ORDER BY tokens DESC, cell) <= getvariable('top_models')

-- name: create_unruled
-- What a ranking without the rule publishes: the largest models of each date, and the row of the rest.
CREATE OR REPLACE TEMP VIEW core_unnamed_contributions AS
SELECT * REPLACE ('other' AS cell) FROM core_model_contributions ANTI JOIN core_largest USING (date, cell);

CREATE OR REPLACE TEMP TABLE core_unruled AS
SELECT *, false AS is_rest FROM core_largest
UNION ALL
SELECT *, true
FROM measured_cells('core_unnamed_contributions', getvariable('min_contributors'), getvariable('p_percent'))

-- name: create_apart
-- Models that are apart from the row of the rest: first the largest safe ones of each date. The rest is measured for all
-- dates.
CREATE OR REPLACE TEMP VIEW core_safe AS
SELECT date, cell AS model_permaslug, tokens, row_number() OVER (PARTITION BY date ORDER BY tokens DESC, cell) AS position
FROM core_cells
WHERE is_safe;

CREATE OR REPLACE TEMP TABLE core_apart AS FROM core_safe WHERE position <= getvariable('top_models');

CREATE OR REPLACE TEMP TABLE core_measure AS SELECT DISTINCT date FROM core_cells

-- name: create_rest
CREATE OR REPLACE TEMP TABLE core_rest (
  date DATE, cell VARCHAR, tokens HUGEINT, protected HUGEINT, contributors BIGINT, largest HUGEINT, is_safe BOOLEAN
);

CREATE OR REPLACE TEMP VIEW core_rest_contributions AS
SELECT * EXCLUDE (model_permaslug), 'rest' AS cell
FROM core_contributions
SEMI JOIN core_measure USING (date)
ANTI JOIN core_apart USING (date, model_permaslug)

-- name: measure_rest
-- The row of the rest of the dates in core_measure.
DELETE FROM core_rest WHERE date IN (FROM core_measure);

INSERT INTO core_rest
FROM measured_cells('core_rest_contributions', getvariable('min_contributors'), getvariable('p_percent'))

-- name: join_smallest
-- Dates whose rest is unsafe and still has a model apart to take.
CREATE OR REPLACE TEMP TABLE core_measure AS
SELECT DISTINCT date FROM core_apart SEMI JOIN (FROM core_rest WHERE NOT is_safe) USING (date);

-- The smallest of each joins the rest.
DELETE FROM core_apart
WHERE (date, position) IN (SELECT (date, max(position)) FROM core_apart SEMI JOIN core_measure USING (date) GROUP BY date)

-- name: left_to_measure
SELECT count(*) AS dates FROM core_measure

-- name: create_named
CREATE OR REPLACE TEMP TABLE core_named AS FROM core_apart

-- name: split_rest
-- Where the row of the rest is safe, each safe model in it is set apart. What is left may be unsafe then.
CREATE OR REPLACE TEMP TABLE core_measure AS SELECT date FROM core_rest WHERE is_safe;

INSERT INTO core_apart
FROM core_safe
SEMI JOIN core_measure USING (date)
ANTI JOIN core_named USING (date, model_permaslug)

-- name: create_rankings
-- The published rows. A date on which nothing safe is left has none.
CREATE OR REPLACE TEMP TABLE out_rankings_daily AS
SELECT date, model_permaslug, tokens AS total_tokens, position FROM core_named
UNION ALL
SELECT date, $other, tokens, $top_models + 1 FROM core_rest WHERE is_safe

-- name: create_atoms
-- Each model that is set apart is safe, and so is what is left of the rest. Every sum of these is safe, too
-- (docs/decisions/0027).
CREATE OR REPLACE TEMP TABLE core_atoms AS
SELECT date, model_permaslug, tokens FROM core_apart
UNION ALL
SELECT date, $other, tokens FROM core_rest WHERE is_safe

-- name: joined_cells
-- How many of the largest models of each date joined the row of the rest.
SELECT strftime(largest.date, '%Y-%m-%d') AS date, count(*) AS cells
FROM core_largest AS largest
ANTI JOIN core_named AS named ON largest.date = named.date AND largest.cell = named.model_permaslug
GROUP BY ALL
ORDER BY ALL

-- name: worst_cells
-- Unsafe cells of a ranking without the rule, those with the most tokens first. The share is of what is protected.
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  cell AS model_permaslug,
  tokens::VARCHAR AS tokens,
  protected::VARCHAR AS protected_tokens,
  contributors,
  (largest / protected)::DOUBLE AS largest_share
FROM core_unruled
WHERE NOT is_safe
ORDER BY core_unruled.tokens DESC, date, cell
LIMIT $cells

-- name: risk
-- How much of a ranking without the rule is not safe, and of how much it is known whose it is.
SELECT
  count(DISTINCT date) AS dates,
  count(*) AS cells,
  count(*) FILTER (NOT is_safe) AS unsafe_cells,
  coalesce(sum(tokens), 0)::VARCHAR AS tokens,
  coalesce(sum(protected), 0)::VARCHAR AS protected_tokens,
  coalesce(sum(contributors), 0) > 0 AS has_contributors
FROM core_unruled

-- name: effect
-- What the rule does to it.
SELECT
  (SELECT count(*) FROM core_unruled ANTI JOIN core_named AS named
    ON core_unruled.date = named.date AND cell = model_permaslug
    WHERE NOT is_rest) AS joined_cells,
  (SELECT count(*) FROM core_rest WHERE NOT is_safe) AS dates_left_out,
  (SELECT coalesce(sum(tokens), 0)::VARCHAR FROM core_named
    ANTI JOIN (FROM core_rest WHERE NOT is_safe) USING (date)) AS named_tokens

-- name: create_derived
-- Numbers that readers can compute from the published rows, as sums of rows; filled by unsafeSums.
CREATE OR REPLACE TEMP TABLE core_derived (
  number INTEGER, grain VARCHAR, date DATE, model_permaslug VARCHAR, factor INTEGER
);

-- What each published row is the sum of.
CREATE OR REPLACE TEMP VIEW core_parts AS
WITH published AS (
  SELECT 'day' AS grain, date, model_permaslug FROM out_rankings_daily
  UNION ALL
  SELECT grain, date, model_permaslug FROM out_rankings_periods
),
part AS (
  SELECT DISTINCT grain, date_trunc(grain, date)::DATE AS first_date, date, model_permaslug
  FROM core_contributions
  CROSS JOIN (SELECT DISTINCT grain FROM published)
  SEMI JOIN out_rankings_daily USING (date)
)
SELECT
  part.grain,
  part.first_date,
  coalesce(published.model_permaslug, 'other') AS row_model,
  part.date,
  part.model_permaslug
FROM part
LEFT JOIN published
  ON part.grain = published.grain AND part.first_date = published.date
    AND part.model_permaslug = published.model_permaslug;

-- A number may span dates: it is a cell without one. Who knows her own part takes it out, added or subtracted.
CREATE OR REPLACE TEMP VIEW core_derived_contributions AS
WITH counted AS (
  SELECT number, part.date, part.model_permaslug, sum(factor) AS times
  FROM core_derived AS derived
  JOIN core_parts AS part
    ON derived.grain = part.grain AND derived.date = first_date AND derived.model_permaslug = row_model
  GROUP BY ALL
  HAVING sum(factor) <> 0
)
SELECT NULL::DATE AS date, number AS cell, contributor, is_exempt, abs(times)::HUGEINT * tokens AS tokens
FROM counted
JOIN core_contributions USING (date, model_permaslug)

-- name: unsafe_derived
SELECT cell AS number
FROM measured_cells('core_derived_contributions', getvariable('min_contributors'), getvariable('p_percent'))
WHERE NOT is_safe
ORDER BY ALL

-- name: create_published
-- The rows of a release; filled by unsafeRows.
CREATE OR REPLACE TEMP TABLE core_published (grain VARCHAR, date DATE, model_permaslug VARCHAR);

CREATE OR REPLACE TEMP VIEW core_published_contributions AS
WITH summed AS (
  SELECT grain, date_trunc(grain, date)::DATE AS first_date, model_permaslug, contributor, is_exempt, tokens
  FROM core_contributions
  CROSS JOIN (SELECT DISTINCT grain FROM core_published)
  SEMI JOIN (FROM core_published WHERE grain = 'day') USING (date)
)
SELECT
  first_date AS date,
  summed.grain || ' ' || coalesce(published.model_permaslug, 'other') AS cell,
  contributor,
  is_exempt,
  tokens
FROM summed
LEFT JOIN core_published AS published
  ON summed.grain = published.grain AND first_date = published.date
    AND summed.model_permaslug = published.model_permaslug

-- name: unsafe_published
-- How many of them are there today, and how many are not safe.
SELECT
  grain,
  strftime(measured.date, '%Y-%m-%d') AS date,
  count(*) AS numbers,
  count(*) FILTER (NOT is_safe) AS unsafe_numbers
FROM measured_cells('core_published_contributions', getvariable('min_contributors'), getvariable('p_percent')) AS measured
JOIN core_published AS published ON measured.date = published.date AND cell = grain || ' ' || model_permaslug
GROUP BY ALL
ORDER BY ALL
