-- Purpose: how many records a source has in all, and how many of them have an outcome.
-- Grain:   one row.
-- Inputs:  view core_source_sums; tables core_archive, core_result.
SELECT
  (
    SELECT coalesce(sum(records), 0)::BIGINT
    FROM (SELECT records FROM core_source_sums UNION ALL SELECT records FROM core_archive)
  ) AS read,
  (SELECT coalesce(sum(records), 0)::BIGINT FROM core_result) AS accounted
