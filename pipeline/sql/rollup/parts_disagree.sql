-- Purpose: the accepted records of a source whose token counts contradict each other. Like all accepted records here,
--          copies count each by itself, and those of archived dates do not count.
-- Grain:   reason.
-- Inputs:  view core_source_sums; table core_models.
SELECT
  parts_disagree AS reason,
  sum(records)::BIGINT AS records,
  coalesce(
    sum(records) FILTER (coalesce(core_source_sums.visibility, core_models.visibility) = 'public'),
    0
  )::BIGINT AS public_records,
  (sum(sum(records)) OVER ())::BIGINT AS accepted_records
FROM core_source_sums
JOIN core_models ON core_source_sums.model = core_models.model AND is_valid
WHERE reject_reason IS NULL AND NOT is_misdated(day_number)
GROUP BY parts_disagree
QUALIFY parts_disagree IS NOT NULL
ORDER BY reason
