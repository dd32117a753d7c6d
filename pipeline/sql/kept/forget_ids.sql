-- Purpose: notes that the records of files cannot be looked at again.
-- Inputs:  table state_sums; $file_ids.
UPDATE state_sums SET identified_records = 0 WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
