-- Purpose: enters the CSV records that have not the fields of their header: DuckDB sets them aside while it reads, before
--          any column of them is known.
-- Grain:   file.
-- Inputs:  tables core_read_files, reject_scans and reject_errors of the last read.
INSERT INTO state_sums (file_id, reject_reason, records, identified_records, tokens, cost_usd, misread_charges)
SELECT core_read_files.file_id, 'malformed_record', count(DISTINCT line), 0, 0, 0, 0
FROM reject_errors
JOIN reject_scans USING (scan_id, file_id)
JOIN core_read_files ON core_read_files.link = reject_scans.file_path
GROUP BY ALL
