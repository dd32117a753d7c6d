-- Purpose: notes the version of the state.
-- Inputs:  table state_version; $version.
INSERT INTO state_version VALUES ($version)
