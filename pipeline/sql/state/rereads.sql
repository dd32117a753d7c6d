-- Purpose: the sources that were read again because this version reads them differently, since the last finished build.
-- Grain:   one row per source.
-- Inputs:  table state_rereads.
SELECT DISTINCT source FROM state_rereads ORDER BY source
