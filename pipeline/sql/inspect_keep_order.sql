-- Purpose: the first records of a file are those that stand first in it.
-- Inputs:  none.
SET preserve_insertion_order = true
