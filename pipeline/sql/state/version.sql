-- Purpose: the version of the state.
-- Grain:   as state_version.
-- Inputs:  table state_version.
SELECT version FROM state_version
