-- Purpose: the files whose records of archived dates are in the archive; filled from it.
-- Grain:   file x part of the archive.
CREATE OR REPLACE TEMP TABLE core_archived_inputs (name VARCHAR, sha256 VARCHAR, records BIGINT)
