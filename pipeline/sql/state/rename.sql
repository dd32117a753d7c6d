-- Purpose: notes the name, size and time of change that files of the same content have now.
-- Inputs:  tables state_files, core_renamed.
UPDATE state_files
SET name = core_renamed.name, bytes = core_renamed.bytes, modified = core_renamed.modified
FROM core_renamed
WHERE state_files.file_id = core_renamed.file_id
