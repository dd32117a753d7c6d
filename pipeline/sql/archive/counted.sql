-- Purpose: how many records count, for the share of those that were rejected.
-- Grain:   one row.
-- Inputs:  table core_rollup.
SELECT coalesce(sum(requests), 0)::BIGINT AS records FROM core_rollup
