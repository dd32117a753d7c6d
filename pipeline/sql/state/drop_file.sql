-- Purpose: forgets a file.
-- Inputs:  table state_files; $file_id.
DELETE FROM state_files WHERE file_id = $file_id
