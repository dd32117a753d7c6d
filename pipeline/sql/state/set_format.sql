-- Purpose: notes the form of a state that was just created.
-- Inputs:  table state_format; $version.
INSERT INTO state_format VALUES ($version)
