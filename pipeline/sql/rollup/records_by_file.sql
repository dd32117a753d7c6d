-- Purpose: how many records of each file were read, malformed CSV ones aside.
-- Grain:   file that has any.
-- Inputs:  table core_sums.
SELECT input_group, file_index, sum(records)::BIGINT AS records FROM core_sums GROUP BY ALL
