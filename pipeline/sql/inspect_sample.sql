-- Purpose: the first records of a file as they stand there.
-- Grain:   record.
-- Inputs:  view raw_sample; $records, how many.
SELECT fields FROM raw_sample LIMIT $records
