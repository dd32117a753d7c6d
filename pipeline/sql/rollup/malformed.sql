-- Purpose: CSV records that have not the fields of their header: DuckDB sets them aside while it reads, before any column
--          of them is known.
-- Grain:   file.
-- Inputs:  tables reject_scans and reject_errors of the last read.
SELECT file_path AS link, count(DISTINCT line)::BIGINT AS records
FROM reject_errors
JOIN reject_scans USING (scan_id, file_id)
GROUP BY ALL
ORDER BY ALL
