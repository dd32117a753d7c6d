-- Purpose: the model names as they stand in the raw files of a source, for the registry to resolve.
-- Grain:   one row per name.
-- Inputs:  table core_usage_groups.
SELECT DISTINCT model FROM core_usage_groups WHERE model IS NOT NULL ORDER BY model
