-- Purpose: another name, time of change or folder of the archive for a file whose content is the same.
-- Inputs:  table state_files; $file_id, $name, $modified, $kept.
UPDATE state_files SET name = $name, modified = $modified, kept = $kept WHERE file_id = $file_id
