-- Purpose: notes that the archive holds a file.
-- Inputs:  table state_files; $file_id, $kept, the name of its folder.
UPDATE state_files SET kept = $kept WHERE file_id = $file_id
