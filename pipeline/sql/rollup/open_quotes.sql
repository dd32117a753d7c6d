-- Purpose: CSV records whose quote is never closed: such a record takes all that follows with it, so that its file is
--          not read whole.
-- Grain:   file; `record` is the first such record of it.
-- Inputs:  tables reject_scans and reject_errors of the last read.
SELECT file_path AS link, min(line)::BIGINT AS record
FROM reject_errors
JOIN reject_scans USING (scan_id, file_id)
WHERE error_type = 'UNQUOTED VALUE'
  AND contains(csv_line, chr(10))
  AND (length(csv_line) - length(replace(csv_line, '"', ''))) % 2 = 1
GROUP BY ALL
ORDER BY ALL
