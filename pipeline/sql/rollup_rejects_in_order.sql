-- Purpose: the rejected records of one file, as rollup_rejects.sql found them.
-- Grain:   record, in the order of the file.
-- Inputs:  table core_rejects.
SELECT record_number, reason, content FROM core_rejects ORDER BY record_number
