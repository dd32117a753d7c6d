-- Purpose: how the records of a source were read, archived ones included. Version 0.1.0 archived no readings: ''.
-- Grain:   one row per reading.
-- Inputs:  tables state_files, core_archived_inputs; variable source.
SELECT reading FROM state_files WHERE source = getvariable('source')
UNION
SELECT coalesce(reading, '') FROM core_archived_inputs
