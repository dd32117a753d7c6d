-- What the SQL console offers to begin with. DuckDB in the browser runs them: it has no extensions, so no time zones.

-- name: tokens_per_day
SELECT date, sum(total_tokens) AS tokens
FROM daily
GROUP BY date
ORDER BY date;

-- name: largest_of_a_week
SELECT model_permaslug, sum(total_tokens) AS tokens
FROM daily
WHERE date > (SELECT max(date) - 7 FROM daily)
  AND model_permaslug <> 'other'
GROUP BY model_permaslug
ORDER BY tokens DESC
LIMIT 10;

-- name: shares_of_authors
WITH authors AS (
  SELECT date, split_part(model_permaslug, '/', 1) AS author, sum(total_tokens) AS tokens
  FROM weekly
  GROUP BY date, author
)
SELECT date, author, round(100 * tokens / sum(tokens) OVER (PARTITION BY date), 2) AS percent
FROM authors
ORDER BY date, percent DESC;

-- name: fastest_growing
WITH two_weeks AS (
  SELECT model_permaslug,
    sum(total_tokens) FILTER (date > (SELECT max(date) - 7 FROM daily)) AS this_week,
    sum(total_tokens) FILTER (date <= (SELECT max(date) - 7 FROM daily)) AS week_before
  FROM daily
  WHERE date > (SELECT max(date) - 14 FROM daily)
  GROUP BY model_permaslug
)
SELECT *, round(100 * (this_week - week_before) / week_before, 1) AS change_percent
FROM two_weeks
WHERE week_before > 0 AND model_permaslug <> 'other'
ORDER BY change_percent DESC NULLS LAST
LIMIT 20;

-- name: newly_named
SELECT min(date) AS first_date, model_permaslug, count(*) AS days, sum(total_tokens) AS tokens
FROM daily
GROUP BY model_permaslug
HAVING first_date > (SELECT max(date) - 30 FROM daily)
ORDER BY first_date DESC, tokens DESC;

-- name: rank_over_time
SELECT date, row_number() OVER (PARTITION BY date ORDER BY total_tokens DESC) AS rank
FROM daily
WHERE model_permaslug <> 'other'
QUALIFY model_permaslug = (
  SELECT arg_max(model_permaslug, total_tokens)
  FROM daily
  WHERE model_permaslug <> 'other'
)
ORDER BY date;

-- name: concentration
SELECT date,
  round(100 * sum(tokens) FILTER (place <= 10) / sum(tokens), 2) AS percent_of_ten_largest
FROM (
  SELECT date, total_tokens AS tokens,
    row_number() OVER (PARTITION BY date ORDER BY model_permaslug = 'other', total_tokens DESC) AS place
  FROM monthly
)
GROUP BY date
ORDER BY date;

-- name: weekdays
SELECT dayname(date) AS weekday, round(avg(tokens)) AS mean_tokens
FROM (SELECT date, sum(total_tokens) AS tokens FROM daily GROUP BY date)
GROUP BY weekday, isodow(date)
ORDER BY isodow(date);

-- name: level_and_share
WITH whole AS (
  SELECT *, 100 * total_tokens / sum(total_tokens) OVER (PARTITION BY date) AS percent
  FROM weekly
  WHERE days = 7
), earliest AS (
  FROM whole WHERE date = (SELECT min(date) FROM whole)
)
SELECT model_permaslug, earliest.total_tokens AS tokens_then, whole.total_tokens AS tokens_now,
  round(100 * whole.total_tokens / earliest.total_tokens - 100, 1) AS change_percent,
  round(earliest.percent, 2) AS share_then, round(whole.percent, 2) AS share_now
FROM whole
JOIN earliest USING (model_permaslug)
WHERE whole.date = (SELECT max(date) FROM whole)
ORDER BY tokens_now DESC
LIMIT 8;

-- name: edge_of_the_ranking
WITH week AS (
  FROM weekly WHERE days = 7 QUALIFY date = max(date) OVER ()
), edges AS (
  SELECT date, min(total_tokens) AS rank_50
  FROM daily
  WHERE model_permaslug <> 'other'
  GROUP BY date
)
SELECT week.model_permaslug, count(daily.date) AS days_named,
  sum(daily.total_tokens) AS at_least, week.total_tokens AS of_week,
  coalesce(at_least, 0) + sum(rank_50) FILTER (daily.date IS NULL) AS at_most,
  round(avg(daily.total_tokens)) AS mean_of_rows, round(of_week / 7) AS mean_of_week
FROM week
JOIN edges ON edges.date BETWEEN week.date AND week.date + 6
LEFT JOIN daily ON daily.date = edges.date AND daily.model_permaslug = week.model_permaslug
WHERE week.model_permaslug <> 'other'
GROUP BY week.model_permaslug, week.total_tokens
HAVING days_named < 7
ORDER BY days_named, of_week DESC
LIMIT 6;

-- name: free_variants
WITH families AS (
  SELECT regexp_replace(model_permaslug, ':[^:]*$', '') AS family,
    sum(total_tokens) AS at_least,
    sum(total_tokens) FILTER (NOT contains(model_permaslug, ':')) AS base,
    sum(total_tokens) FILTER (model_permaslug LIKE '%:free') AS free
  FROM weekly
  WHERE model_permaslug <> 'other' AND date = (SELECT max(date) FROM weekly WHERE days = 7)
  GROUP BY family
)
SELECT family, at_least, base, free, round(100 * free / at_least, 1) AS free_percent,
  rank() OVER (ORDER BY at_least DESC) AS rank,
  rank() OVER (ORDER BY base DESC NULLS LAST) AS rank_of_base
FROM families
QUALIFY free > 0
ORDER BY at_least DESC
LIMIT 6;

-- name: restated
SELECT date, model_permaslug, count(*) AS versions,
  min(total_tokens) AS least, max(total_tokens) AS most
FROM history
WHERE "table" = 'daily'
GROUP BY date, model_permaslug
HAVING least < most
ORDER BY date DESC, model_permaslug;

-- name: as_of_a_release
SELECT date, sum(total_tokens) AS tokens
FROM history
WHERE "table" = 'daily'
  AND valid_from <= (SELECT min(valid_from) FROM history)
GROUP BY date
ORDER BY date;
