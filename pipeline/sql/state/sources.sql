-- Purpose: the sources that the state knows.
-- Grain:   one row per source.
-- Inputs:  table state_files.
SELECT DISTINCT source FROM state_files ORDER BY source
