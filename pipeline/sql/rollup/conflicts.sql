-- Purpose: how many surplus copies say something else than the copy that was kept.
-- Grain:   one row.
-- Inputs:  table state_surplus; variable source.
SELECT coalesce(sum(conflicting_records), 0)::BIGINT AS records FROM state_surplus WHERE source = getvariable('source')
