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
