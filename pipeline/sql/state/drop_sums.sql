-- Purpose: forgets what a file contributed.
-- Inputs:  table state_sums; $file_id.
DELETE FROM state_sums WHERE file_id = $file_id
