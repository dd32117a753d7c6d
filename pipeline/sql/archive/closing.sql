-- Purpose: what a source has of the dates that are being closed.
-- Grain:   one row; none without a record.
-- Inputs:  view core_net_usage; variable open_day; $before_day.
SELECT
  strftime(DATE '1970-01-01' + min(day_number)::INTEGER, '%Y-%m-%d') AS start_date,
  strftime(DATE '1970-01-01' + max(day_number)::INTEGER, '%Y-%m-%d') AS end_date,
  count(DISTINCT day_number)::BIGINT AS dates,
  sum(records)::BIGINT AS records,
  sum(tokens)::HUGEINT::VARCHAR AS tokens
FROM core_net_usage
WHERE day_number >= getvariable('open_day') AND day_number < $before_day
HAVING sum(records) > 0
