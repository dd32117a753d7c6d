-- Purpose: the raw files whose rejected records are written.
-- Grain:   file.
-- Inputs:  table state_rejects.
SELECT DISTINCT source, file FROM state_rejects
