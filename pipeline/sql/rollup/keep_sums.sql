-- Purpose: enters into the state what the files of this pass contributed.
-- Grain:   as state_sums.
-- Inputs:  tables core_sums, core_read_files.
INSERT INTO state_sums
SELECT file_id, core_sums.* EXCLUDE (input_group, file_index)
FROM core_sums
JOIN core_read_files USING (input_group, file_index)
