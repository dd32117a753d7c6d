-- Each check returns what breaks it, and its first line says what it demands. First the tables that checks read beside
-- the rollup and the ranking.

-- name: create_deliveries
-- Records of the sources that are not in the rollup: source x UTC date, without a date where it cannot be read. One row
-- without records for each source, so that a source without any is seen. `readable`: neither left out nor rejected.
CREATE OR REPLACE TEMP TABLE core_deliveries (source VARCHAR, date DATE, records BIGINT, readable BIGINT)

-- name: create_parts_disagree
-- Accepted records of sources that have records with contradicting token counts: source x UTC date x reason. The reason
-- is NULL for records that contradict nothing.
CREATE OR REPLACE TEMP TABLE core_parts_disagree (
  source VARCHAR, date DATE, reason VARCHAR, records BIGINT, public_records BIGINT
)

-- name: create_checked_rows
-- The rows of all tables, and which dates, weeks and months have frozen dates. Findings of weeks and months begin with
-- found_in.
CREATE OR REPLACE TEMP MACRO found_in(grain) AS CASE WHEN grain = 'day' THEN '' ELSE grain || ': ' END;

CREATE OR REPLACE TEMP VIEW core_checked_rows AS
SELECT 'day' AS grain, date AS first_date, model_permaslug, total_tokens, position FROM out_rankings_daily
UNION ALL
SELECT grain, date, model_permaslug, total_tokens, position FROM out_rankings_periods;

CREATE OR REPLACE TEMP VIEW core_checked_frozen AS
SELECT DISTINCT grain, date_trunc(grain, date)::DATE AS first_date
FROM core_frozen_dates, (VALUES ('day'), ('week'), ('month')) AS grains (grain)

-- name: doubled_model
-- A model has one row a date, week or month.
SELECT first_date::VARCHAR AS date, found_in(grain) || model_permaslug || ' has ' || count(*) || ' rows' AS finding
FROM core_checked_rows
GROUP BY grain, first_date, model_permaslug
HAVING count(*) > 1
ORDER BY ALL

-- name: too_many_rows
-- A date, week or month has at most $top_models models and one row of the rest.
SELECT first_date::VARCHAR AS date, found_in(grain) || count(*)::VARCHAR || ' rows' AS finding
FROM core_checked_rows
GROUP BY grain, first_date
HAVING count(*) FILTER (model_permaslug <> $other) > $top_models OR count(*) FILTER (model_permaslug = $other) > 1
ORDER BY ALL

-- name: other_without_cause
-- There is a row of the rest only behind $top_models models, but for dates of a disclosure rule.
SELECT first_date::VARCHAR AS date, found_in(grain) || 'has a row of the rest behind ' || (count(*) - 1) || ' models' AS finding
FROM core_checked_rows
ANTI JOIN core_checked_frozen USING (grain, first_date)
WHERE NOT $is_ruled
GROUP BY grain, first_date
HAVING count(*) FILTER (model_permaslug = $other) > 0 AND count(*) <= $top_models
ORDER BY ALL

-- name: out_of_order
-- Rows of a date or period have the most tokens first, equal ones in the order of their slugs, and the row of the rest last.
WITH neighbour AS (
  SELECT
    *,
    lead(model_permaslug) OVER by_position AS next_model,
    lead(total_tokens) OVER by_position AS next_tokens
  FROM core_checked_rows
  WINDOW by_position AS (PARTITION BY grain, first_date ORDER BY position)
)
SELECT first_date::VARCHAR AS date, found_in(grain) || model_permaslug || ' stands before ' || next_model AS finding
FROM neighbour
WHERE model_permaslug = $other AND next_model IS NOT NULL
  OR next_model <> $other AND (total_tokens < next_tokens OR total_tokens = next_tokens AND model_permaslug >= next_model)
ORDER BY ALL

-- name: not_an_integer_of_64_bits
-- A number fits the BIGINT of the Parquet file and is more than zero.
SELECT first_date::VARCHAR AS date, found_in(grain) || model_permaslug || ' has ' || total_tokens || ' tokens' AS finding
FROM core_checked_rows
WHERE total_tokens NOT BETWEEN 1 AND 9223372036854775807
ORDER BY ALL

-- name: lost_tokens
-- Rows add up: those of a date that is published first to its public models, those of a week or month to its dates.
WITH published AS (
  SELECT grain, first_date, sum(total_tokens) AS tokens FROM core_checked_rows GROUP BY ALL
),
counted AS (
  SELECT 'day' AS grain, date AS first_date, sum(tokens) AS tokens
  FROM core_rollup
  WHERE date BETWEEN $first_date::DATE AND $last_date::DATE AND date NOT IN (FROM core_frozen_dates)
    AND NOT ($is_ruled AND date NOT IN (SELECT date FROM out_rankings_daily))
  GROUP BY date
  UNION ALL
  SELECT grain, date_trunc(grain, date)::DATE, sum(total_tokens)
  FROM out_rankings_daily, (VALUES ('week'), ('month')) AS grains (grain)
  GROUP BY ALL
)
SELECT
  first_date::VARCHAR AS date,
  found_in(grain) || 'publishes ' || coalesce(published.tokens, 0) || ' tokens of ' || coalesce(counted.tokens, 0)
    AS finding
FROM published
FULL JOIN counted USING (grain, first_date)
WHERE coalesce(published.tokens, 0) <> coalesce(counted.tokens, 0)
  AND NOT (grain = 'day' AND first_date IN (FROM core_frozen_dates))
ORDER BY ALL

-- name: missing_date
-- Every date between the first and the last one has public usage, but for dates that were taken out.
WITH day AS (
  SELECT DISTINCT date FROM out_rankings_daily
),
neighbour AS (
  SELECT date AS date_before, lead(date) OVER (ORDER BY date) AS date_after FROM day
),
missing AS (
  SELECT unnest(range(date_before + 1, date_after, INTERVAL 1 DAY))::DATE AS date, date_before, date_after
  FROM neighbour
  WHERE date_after > date_before + 1
)
SELECT
  date::VARCHAR AS date,
  CASE
    WHEN getvariable('is_ruled') THEN 'not published, although ' || date_before || ' and ' || date_after || ' are'
    ELSE 'no public usage, although ' || date_before || ' and ' || date_after || ' have some'
  END AS finding
FROM missing
WHERE missing.date NOT IN (FROM core_frozen_dates)
ORDER BY missing.date

-- name: collapsed_day
-- A date has at least half the tokens that the seven dates before it have on average.
-- The first seven dates have no seven before them and are not checked.
WITH day AS (
  SELECT date, sum(total_tokens) AS tokens FROM out_rankings_daily GROUP BY date
),
judged_day AS (
  SELECT date, tokens, count(*) OVER week AS dates_before, sum(tokens) OVER week AS tokens_before
  FROM day
  WINDOW week AS (ORDER BY date ROWS BETWEEN 7 PRECEDING AND 1 PRECEDING)
)
SELECT
  date::VARCHAR AS date,
  format('{:,} tokens, less than half of {:,}, the mean of the seven dates before', tokens, tokens_before // 7) AS finding
FROM judged_day
WHERE dates_before = 7 AND 2 * 7 * tokens < tokens_before
ORDER BY date

-- name: new_leader
-- A model that has the most tokens of a date was published on a date before.
-- The first seven dates are not checked: everything is new in a young dataset.
WITH ranked AS (
  SELECT
    *,
    dense_rank() OVER (ORDER BY date) AS date_number,
    min(date) OVER (PARTITION BY model_permaslug) AS model_since
  FROM out_rankings_daily
)
SELECT
  date::VARCHAR AS date,
  format('{} has the most tokens, {:,}, and was on no date before', model_permaslug, total_tokens) AS finding
FROM ranked
WHERE position = 1 AND date = model_since AND date_number > 7
ORDER BY date

-- name: silent_source
-- Every source delivers records, up to the newest date.
-- `finding` goes on where the name of the source ends, because that name is not published.
WITH delivery AS (
  SELECT source, date, requests AS records FROM core_rollup
  UNION ALL
  SELECT source, date, records FROM core_deliveries
),
newest AS (
  SELECT max(date) AS newest_date FROM out_rankings_daily
),
judged_source AS (
  SELECT
    source,
    newest_date,
    sum(records) AS all_records,
    coalesce(sum(records) FILTER (date = newest_date), 0) AS newest_records,
    coalesce(sum(records) FILTER (date BETWEEN newest_date - 7 AND newest_date - 1), 0) AS week_records
  FROM delivery, newest
  GROUP BY source, newest_date
)
SELECT
  CASE WHEN all_records > 0 THEN newest_date::VARCHAR END AS date,
  source,
  CASE
    WHEN all_records > 0 THEN 'delivered no record of this date, although it did for the week before'
    ELSE 'delivered no record at all'
  END AS finding
FROM judged_source
WHERE all_records = 0 OR newest_records = 0 AND week_records > 0
ORDER BY ALL

-- name: uncounted_source
-- Some record of every source that delivers any counts, is private or is withheld: not all are left out or rejected.
-- `finding` goes on where the name of the source ends, because that name is not published.
SELECT
  source,
  'has no record that counts: all are left out or rejected' AS finding,
  format('{:,}', sum(records)::BIGINT) AS detail
FROM core_deliveries
WHERE source NOT IN (SELECT source FROM core_rollup)
GROUP BY source
HAVING sum(records) > 0 AND sum(readable) = 0
ORDER BY source

-- name: create_same_requests
-- Pairs of sources whose schemas show the same requests; filled by the checks.
CREATE OR REPLACE TEMP TABLE core_same_requests (source VARCHAR, other_source VARCHAR)

-- name: overlapping_sources
-- No two sources have the same requests, which would count twice: remove one, or the dates that both have.
-- One row per pair. Its names and numbers are in `detail`, which is not published. Sums are equal by chance where they are
-- small, or once: those of the models that hold half of the smaller source are not, on three dates.
WITH day AS (
  SELECT source, date, sum(tokens) AS tokens FROM core_rollup GROUP BY ALL
),
of_one_product AS (
  SELECT
    pairs.*,
    format(
      'their schemas show the same requests, and both have usage on {}, the last {}',
      CASE WHEN count(*) = 1 THEN '1 date' ELSE count(*) || ' dates' END,
      max(day.date)
    ) AS why
  FROM core_same_requests AS pairs
  JOIN day ON pairs.source = day.source
  JOIN day AS other_day ON pairs.other_source = other_day.source AND day.date = other_day.date
  GROUP BY ALL
),
equal_day AS (
  SELECT one.source, other.source AS other_source, one.date, sum(one.tokens) AS tokens
  FROM core_rollup AS one
  JOIN core_rollup AS other USING (date, model_permaslug, tokens)
  WHERE one.source < other.source AND tokens >= 1000
  GROUP BY ALL
),
of_equal_sums AS (
  SELECT
    equal_day.source,
    other_source,
    format('most of their tokens are equal sums of equal models on {:d} dates, the last {}', count(*), max(equal_day.date)) AS why
  FROM equal_day
  JOIN day USING (source, date)
  JOIN day AS other_day ON other_source = other_day.source AND equal_day.date = other_day.date
  WHERE 2 * equal_day.tokens >= least(day.tokens, other_day.tokens)
  GROUP BY ALL
  HAVING count(*) >= 3
),
of_equal_ids AS (
  SELECT
    source,
    other_source,
    format('they share about {:,} of {:,} request ids of {}', arg_max(ids, date), arg_max(of_ids, date), max(date)) AS why
  FROM core_shared_ids
  WHERE ids >= 100 AND 100 * ids > of_ids
  GROUP BY ALL
),
found AS (
  SELECT source, other_source, string_agg(why, '; ' ORDER BY why DESC) AS why
  FROM (FROM of_one_product UNION ALL FROM of_equal_sums UNION ALL FROM of_equal_ids)
  GROUP BY ALL
)
SELECT
  source AS one,
  other_source AS other,
  'two sources seem to have the same requests' AS finding,
  to_json(source)::VARCHAR || ' and ' || to_json(other_source)::VARCHAR || ': ' || why AS detail
FROM found
ORDER BY ALL

-- name: newest_records
-- By source, the newest date of its records, whatever became of them. A date after $last_credible is not one.
WITH delivery AS (
  SELECT source, date FROM core_rollup
  UNION ALL
  SELECT source, date FROM core_deliveries
)
SELECT source, max(date) FILTER (date <= $last_credible::DATE)::VARCHAR AS date
FROM delivery
GROUP BY source
ORDER BY source

-- name: token_parts_disagree
-- The token counts of a record contradict each other in at most 1 % of a source's records.
-- One row per source. `finding` goes on where the name of the source ends, and `detail` where the finding ends: neither
-- the name nor the numbers of a source are published. What is published depends on public usage alone. `date` is the
-- newest on which more than 1 % of the records contradict themselves: it tells a new fault from a known one.
WITH by_date AS (
  SELECT
    source,
    date,
    sum(records) AS records,
    coalesce(sum(records) FILTER (reason IS NOT NULL), 0) AS bad,
    sum(public_records) AS public_records,
    coalesce(sum(public_records) FILTER (reason IS NOT NULL), 0) AS public_bad
  FROM core_parts_disagree
  GROUP BY source, date
),
by_source AS (
  SELECT
    source,
    100 * sum(bad) > sum(records) AS is_bad,
    100 * sum(public_bad) > sum(public_records) AS is_public,
    max(date) FILTER (100 * bad > records) AS date,
    max(date) FILTER (100 * public_bad > public_records) AS public_date,
    format('{:,} of {:,}', sum(bad)::BIGINT, sum(records)::BIGINT) AS share,
    format('{:,} of {:,}', sum(public_bad)::BIGINT, sum(public_records)::BIGINT) AS public_share
  FROM by_date
  GROUP BY source
),
by_reason AS (
  SELECT source, reason, sum(records)::BIGINT AS records
  FROM core_parts_disagree
  WHERE reason IS NOT NULL
  GROUP BY source, reason
),
listed AS (
  SELECT source, string_agg(format('{} {:,}', reason, records), ', ' ORDER BY reason) AS reasons
  FROM by_reason
  GROUP BY source
)
SELECT
  CASE WHEN is_public THEN public_date ELSE date END::VARCHAR AS date,
  source,
  is_public,
  'has token counts that contradict each other in more than 1 % of its records, most recently on this date' AS finding,
  share || ' (' || reasons || ')' || CASE WHEN share <> public_share THEN ', of public usage ' || public_share ELSE '' END
    AS detail
FROM by_source
JOIN listed USING (source)
WHERE is_bad OR is_public
ORDER BY source
