-- Purpose: the public tokens of some dates, whether they are published already or not.
-- Grain:   one row.
-- Inputs:  table core_rollup; $start_date, $end_date.
SELECT coalesce(sum(tokens), 0)::VARCHAR AS tokens
FROM core_rollup
WHERE date BETWEEN $start_date::DATE AND $end_date::DATE
