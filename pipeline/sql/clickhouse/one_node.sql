-- Purpose: the server that is asked, as the only node.
-- Grain:   one row.
-- Inputs:  none.
system.one
