-- Purpose: how many records of each file were read, malformed ones included.
-- Grain:   file that has any.
-- Inputs:  table core_sums.
SELECT link, sum(records)::BIGINT AS records FROM core_sums GROUP BY link
