-- Purpose: the files whose records of archived dates are in the archive; filled from it.
-- Grain:   file x content x UTC day, one row for each part of the archive that has it.
CREATE OR REPLACE TEMP TABLE core_archived_inputs (
  name VARCHAR, sha256 VARCHAR, reading VARCHAR, day_number BIGINT, records BIGINT, tokens HUGEINT
)
