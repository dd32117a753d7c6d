-- Purpose: gives back what a source took while it was read: for a long history it is more than the release takes.
-- Inputs:  none.
DROP TABLE IF EXISTS core_sums;
DROP TABLE IF EXISTS core_result
