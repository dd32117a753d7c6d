-- Purpose: holds the version of the state.
-- Grain:   one row; none in a state that was just created or that version 0.1.0 wrote.
-- Inputs:  none.
CREATE TABLE IF NOT EXISTS state_version (version INTEGER)
