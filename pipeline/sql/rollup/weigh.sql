-- Purpose: counts the requests that rows of sums stand for, once it is certain that all rows were read.
-- Inputs:  table core_sums, as sums_of_rollup.sql filled it.
UPDATE core_sums
SET records = CASE WHEN reject_reason IS NULL THEN identified_records ELSE records END, identified_records = 0
