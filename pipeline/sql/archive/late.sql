-- Purpose: what came after its date was archived, for the account of what is not counted. Records of a misdated day are
--          rejected instead, whatever is archived.
-- Grain:   file x UTC day; no date for a misdated day.
-- Inputs:  view core_late_usage.
SELECT
  file,
  CASE WHEN is_misdated(day_number) THEN 'invalid_timestamp' ELSE 'archived_date' END AS reason,
  CASE WHEN NOT is_misdated(day_number) THEN strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') END AS date,
  records::BIGINT AS records,
  CASE WHEN is_misdated(day_number) THEN 0 ELSE tokens END::HUGEINT AS tokens
FROM core_late_usage
ORDER BY file, date
