-- Purpose: gives files that an earlier version read, as this one does, the name that this one has for that reading.
-- Inputs:  table state_files; $file_ids, $reading.
UPDATE state_files SET reading = $reading WHERE file_id IN (SELECT unnest($file_ids)::INTEGER)
