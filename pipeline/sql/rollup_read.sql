-- Purpose: how many records of a source were read.
-- Grain:   one row.
-- Inputs:  table core_usage_groups.
SELECT coalesce(sum(records), 0)::BIGINT AS records FROM core_usage_groups
