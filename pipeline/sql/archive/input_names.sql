-- Purpose: the files that have records in the archive.
-- Grain:   one row per name.
-- Inputs:  table core_archived_inputs.
SELECT DISTINCT name FROM core_archived_inputs ORDER BY name
