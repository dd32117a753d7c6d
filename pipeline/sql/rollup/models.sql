-- Purpose: the model names as they stand in the raw files of a source and in its archive, for the registry to resolve.
-- Grain:   one row per name.
-- Inputs:  view core_source_sums; table core_archive.
SELECT model FROM core_source_sums WHERE model IS NOT NULL
UNION
SELECT model FROM core_archive WHERE model IS NOT NULL
ORDER BY model
