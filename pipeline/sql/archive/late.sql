-- Purpose: what came after its date was closed, for the account of what is not counted.
-- Grain:   file x UTC day.
-- Inputs:  view core_late_usage.
SELECT
  file,
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  records::BIGINT AS records,
  tokens::HUGEINT AS tokens
FROM core_late_usage
ORDER BY file, date
