-- Purpose: what does not count, for the account of all records.
-- Grain:   UTC day x model x reason.
-- Inputs:  table core_result.
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  model_permaslug,
  outcome AS reason,
  records,
  tokens
FROM core_result
WHERE outcome <> 'public'
ORDER BY ALL
