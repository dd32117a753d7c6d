-- Purpose: the days of a batch on which records are repeated: their files alone are read again.
-- Grain:   UTC day.
-- Inputs:  table core_repeated.
SELECT DISTINCT day_number FROM core_repeated
