-- Purpose: the form of the state; no row for a state that was just created.
-- Grain:   one row at most.
-- Inputs:  table state_format.
SELECT version FROM state_format
