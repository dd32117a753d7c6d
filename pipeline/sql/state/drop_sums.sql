-- Purpose: forgets what files contributed.
-- Inputs:  table state_sums; $file_ids.
DELETE FROM state_sums WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
