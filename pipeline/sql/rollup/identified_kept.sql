-- Purpose: the same where no file is at hand.
-- Grain:   one row per record.
-- Inputs:  table core_kept_usage.
CREATE OR REPLACE TEMP VIEW core_ids AS SELECT day_number, request_id FROM core_kept_usage;

CREATE OR REPLACE TEMP VIEW core_identified_usage AS FROM core_kept_usage
