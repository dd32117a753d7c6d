-- Purpose: the accepted records of a source by why their token counts contradict each other; none where no record's do.
--          Like all accepted records here, duplicates count each by itself, and those of archived dates do not count.
-- Grain:   UTC day x reason; the reason is NULL for records that contradict nothing.
-- Inputs:  view core_source_sums; table core_models.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  parts_disagree AS reason,
  sum(records)::BIGINT AS records,
  coalesce(
    sum(records) FILTER (coalesce(core_source_sums.visibility, core_models.visibility) = 'public'),
    0
  )::BIGINT AS public_records
FROM core_source_sums
JOIN core_models ON core_source_sums.model = core_models.model AND is_valid
WHERE reject_reason IS NULL AND NOT is_misdated(day_number)
GROUP BY day_number, parts_disagree
QUALIFY count(parts_disagree) OVER () > 0
ORDER BY date, reason
