-- Purpose: forgets which rejected records of a source were written.
-- Inputs:  table state_rejects; variable source.
DELETE FROM state_rejects WHERE source = getvariable('source')
