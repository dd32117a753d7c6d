-- Purpose: CSV records that have not the fields of their header, which DuckDB sets aside while it reads. `open_quote` is
--          the first whose quote is never closed: it takes all that follows with it, so that the file is not read whole.
-- Grain:   file.
-- Inputs:  tables reject_scans and reject_errors of the last read.
SELECT
  file_path,
  count(DISTINCT line)::BIGINT AS records,
  min(line) FILTER (
    error_type = 'UNQUOTED VALUE'
    AND contains(csv_line, chr(10))
    AND (length(csv_line) - length(replace(csv_line, '"', ''))) % 2 = 1
  )::BIGINT AS open_quote
FROM reject_errors
JOIN reject_scans USING (scan_id, file_id)
GROUP BY ALL
ORDER BY ALL
