-- Purpose: the first number that no file of the state has.
-- Grain:   one row.
-- Inputs:  table state_files.
SELECT coalesce(max(file_id), 0)::INTEGER + 1 AS file_id FROM state_files
