-- Purpose: enters into the state what the files of this build that are new or changed contributed.
-- Grain:   as state_sums.
-- Inputs:  tables core_sums, core_file_numbers.
INSERT INTO state_sums
SELECT file_id, core_sums.* EXCLUDE (link, note_kind, note_name, note_tokens)
FROM core_sums
JOIN core_file_numbers USING (link)
