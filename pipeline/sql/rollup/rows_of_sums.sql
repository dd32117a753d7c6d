-- Purpose: how many rows of sums a source has and how many of them are rejected, whatever the requests that they stand for.
--          In the archive, rows of one day and model are one.
-- Grain:   one row.
-- Inputs:  view core_net_usage; table core_models.
SELECT
  coalesce(sum(CASE WHEN outcome IS NULL THEN 1 ELSE records END), 0)::BIGINT AS rows,
  coalesce(
    sum(CASE WHEN outcome IS NULL THEN 1 ELSE records END)
      FILTER (outcome IS NOT NULL OR is_misdated(day_number) OR NOT is_valid),
    0
  )::BIGINT AS rejected
FROM core_net_usage
LEFT JOIN core_models ON core_net_usage.model = core_models.model
