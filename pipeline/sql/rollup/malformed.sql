-- Purpose: the CSV records of a batch that have not the fields of their header: DuckDB sets them aside while it reads,
--          before any column of them is known.
-- Grain:   as core_sums: one row per file.
-- Inputs:  tables reject_scans and reject_errors of the last read, core_sums.
INSERT INTO core_sums (link, reject_reason, records, identified_records, tokens, cost_usd, misread_charges)
SELECT file_path, 'malformed_record', count(DISTINCT line), 0, 0, 0, 0
FROM reject_errors
JOIN reject_scans USING (scan_id, file_id)
GROUP BY ALL
