-- Purpose: the settings that this server knows: it refuses a question with any other.
-- Grain:   one row per setting.
-- Inputs:  none.
SELECT name FROM system.settings
