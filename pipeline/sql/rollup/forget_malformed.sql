-- Purpose: forgets what an earlier read set aside, so that the next read counts its own alone.
-- Inputs:  none.
DROP TABLE IF EXISTS reject_errors;
DROP TABLE IF EXISTS reject_scans;
