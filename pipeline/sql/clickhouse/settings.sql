-- Purpose: which settings this server knows of those that would send the joined part to other nodes than its own.
-- Grain:   one row per setting.
-- Inputs:  none.
SELECT name FROM system.settings WHERE name IN ('prefer_global_in_and_join')
