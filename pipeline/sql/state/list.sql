-- Purpose: the files of a source that the state knows.
-- Grain:   one row per file.
-- Inputs:  table state_files; variable source.
SELECT file_id, name, bytes, modified, sha256, reading, kept
FROM state_files
WHERE source = getvariable('source')
ORDER BY name, file_id
