-- Purpose: the sources that were read again because this version reads them differently, since the last build that was done.
-- Grain:   one row per source.
-- Inputs:  table state_rereads.
SELECT DISTINCT source FROM state_rereads ORDER BY source
