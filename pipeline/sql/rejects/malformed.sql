-- Purpose: where in a CSV file the records are that DuckDB took for malformed. `line` counts records, the header and empty
--          lines among them: a line feed within quotes begins no line.
-- Grain:   record of the one file that was read last, in its order.
-- Inputs:  table reject_errors.
SELECT DISTINCT line::BIGINT AS line FROM reject_errors ORDER BY line
