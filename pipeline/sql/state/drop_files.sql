-- Purpose: forgets files.
-- Inputs:  table state_files; $file_ids.
DELETE FROM state_files WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
