-- Purpose: the rejected records by file, for the maintainer.
-- Grain:   file x reason.
-- Inputs:  tables core_usage_groups, core_models.
SELECT
  input_group,
  file_index,
  coalesce(reject_reason, 'invalid_model') AS reason,
  sum(records)::BIGINT AS records
FROM core_usage_groups
LEFT JOIN core_models ON core_usage_groups.model = core_models.model
WHERE reject_reason <> 'left_out' OR NOT is_valid
GROUP BY ALL
ORDER BY ALL
