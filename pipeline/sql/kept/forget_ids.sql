-- Purpose: notes that the records of a file cannot be looked at again.
-- Inputs:  table state_sums; $file_id.
UPDATE state_sums SET identified_records = 0 WHERE file_id = $file_id
