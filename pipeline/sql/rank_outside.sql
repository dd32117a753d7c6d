-- Purpose: public requests of dates that are not published: before the dataset, or not yet complete (DESIGN.md §6.10).
-- Grain:   date.
-- Inputs:  table core_rollup; $first_date, $last_date.
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  sum(requests)::BIGINT AS records,
  sum(tokens)::VARCHAR AS tokens
FROM core_rollup
WHERE date NOT BETWEEN $first_date::DATE AND $last_date::DATE
GROUP BY ALL
ORDER BY ALL
