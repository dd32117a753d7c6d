-- Purpose: how many surplus copies say something else than the copy that was kept.
-- Grain:   one row.
-- Inputs:  table core_surplus.
SELECT coalesce(sum(conflicting_records), 0)::BIGINT AS records FROM core_surplus
