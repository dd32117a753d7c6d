-- Purpose: the files at hand by their content and how it was read.
-- Grain:   one row per content and reading.
-- Inputs:  table state_files.
SELECT DISTINCT sha256, reading FROM state_files WHERE kept IS NULL ORDER BY ALL
