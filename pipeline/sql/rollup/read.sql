-- Purpose: how many records a source has in all.
-- Grain:   one row.
-- Inputs:  view core_source_sums; table core_archive.
SELECT coalesce(sum(records), 0)::BIGINT AS records
FROM (SELECT records FROM core_source_sums UNION ALL SELECT records FROM core_archive)
