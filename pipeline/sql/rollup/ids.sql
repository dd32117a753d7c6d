-- Purpose: whether the accepted records of a source have a request_id.
-- Grain:   one row.
-- Inputs:  view core_source_sums.
SELECT
  coalesce(sum(records), 0)::BIGINT AS records,
  coalesce(sum(identified_records), 0)::BIGINT AS identified_records
FROM core_source_sums
WHERE reject_reason IS NULL
