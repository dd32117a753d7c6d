-- Purpose: forgets what was to be told of how files were read.
-- Inputs:  table state_notes; $file_ids.
DELETE FROM state_notes WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
