-- Purpose: how many public requests and models stand behind the published dates.
-- Grain:   one row.
-- Inputs:  table core_rollup; $first_date, $last_date.
SELECT
  coalesce(sum(requests), 0)::BIGINT AS records,
  count(DISTINCT model_permaslug) FILTER (tokens > 0)::BIGINT AS models
FROM core_rollup
WHERE date BETWEEN $first_date::DATE AND $last_date::DATE
